"""Numbers that nobody can mean are named before anything is computed from them."""

from __future__ import annotations

import time

import pytest
import yaml

from gantrain.spec.bounds import MOST, MOST_LAYERS, MOST_OF
from gantrain.spec.parse import load_spec_text
from gantrain.spec.problems import SpecError
from tests.helpers import tiny_tree

CASES = {
    "latent.size": 10**9,
    "data.batch_size": 10**9,
    "generator.units": [10**9],
    "discriminator.units": [4] * (MOST_LAYERS + 1),
    "training.discriminator_steps": 10**6,
    "training.accumulate": 10**9,
    "output": {"log_every": 10**30},
    "data.shuffle_buffer": MOST + 1,
    "replay": {"size": 10**12},
    "objective": {"penalties": [{"name": "r1", "every": 10**30}]},
    "generator": {"name": "dcgan", "stages": 10**9},
    "output.dir": '"a\\0b"',
    "data.source": {"name": "arrays", "path": "x" * 5000},
    "discriminator": {"name": "dcgan", "base_width": 10**100},
}


@pytest.mark.parametrize("key", CASES)
def test_a_number_out_of_all_bounds_is_named_at_its_place_in_no_time(key):
    text = yaml.safe_dump(tiny_tree({"output": {}, key: "VALUE"})).replace("VALUE", yaml_of(CASES[key]))
    started = time.perf_counter()
    with pytest.raises(SpecError) as caught:
        load_spec_text(text)
    assert time.perf_counter() - started < 2
    problem = next(problem for problem in caught.value.problems if problem.severity == "error")
    assert problem.rule == "out-of-range"
    assert ".".join(map(str, problem.path)).startswith(key)
    assert len(str(caught.value)) < 2000


def yaml_of(value: object) -> str:
    """In one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {yaml_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(yaml_of, value)) + "]"
    return str(value)


def test_the_largest_that_is_allowed_is_not_refused_for_its_size():
    text = yaml.safe_dump(tiny_tree({"latent.size": MOST_OF["size"], "training.steps": MOST, "output": {"keep_last": MOST}}))
    assert load_spec_text(text).spec.output.keep_last == MOST
