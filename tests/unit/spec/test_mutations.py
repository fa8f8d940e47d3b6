"""Any mutation of a shipped config is a valid spec, or problems with positions that say something. Never a traceback."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gantrain.spec.loading import load_text
from gantrain.spec.parse import load_spec_text
from gantrain.spec.problems import SpecError
from gantrain.spec.trees import dump_yaml

CONFIGS = {path.stem: load_text(path.read_text(), path.name).tree for path in Path(__file__).parents[3].glob("configs/*.yaml")}
OTHERS = st.sampled_from(
    [None, True, "", "none", "dcgan", 0, -1, 0.5, 10**12, 1e300, [], [1], {}, {"name": "r1"}, {"a": {"b": 1}}]
)


def places(tree, path=()):
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def container_of(tree, path):
    for part in path[:-1]:
        tree = tree[part]
    return tree


def mutate(tree, kind, draw):
    path = draw(st.sampled_from(list(places(tree))))
    container, key = container_of(tree, path), path[-1]
    value = container[key]
    if kind == "drop":
        del container[key]
    elif kind == "rename" and isinstance(container, dict):
        container[draw(st.sampled_from([str(key)[:-1] or "x", f"{key}s", "name", str(key).upper()]))] = container.pop(key)
    elif kind == "rescale" and isinstance(value, int | float) and not isinstance(value, bool):
        container[key] = value * draw(st.sampled_from([-1, 0, 1e-6, 0.1, 10, 1000, 10**9]))
    elif kind == "swap":
        other = draw(st.sampled_from(list(places(tree))))
        if other[: len(path)] != path and path[: len(other)] != other:
            there = container_of(tree, other)
            container[key], there[other[-1]] = there[other[-1]], value
    else:
        container[key] = copy.deepcopy(draw(OTHERS))  # a list of its own: it may be changed next


def judge(text):
    try:
        load_spec_text(text, "f.yaml")
        problems = None
    except SpecError as error:
        problems = error.problems
    if problems is not None:
        assert problems
        for problem in problems:
            assert (problem.file, bool(problem.line), bool(problem.column), bool(problem.message)) == ("f.yaml", True, True, True)


def check(data):
    tree = copy.deepcopy(CONFIGS[data.draw(st.sampled_from(sorted(CONFIGS)))])
    for kind in data.draw(st.lists(st.sampled_from(["drop", "rename", "retype", "rescale", "swap"]), min_size=1, max_size=3)):
        if tree:
            mutate(tree, kind, data.draw)
    judge(dump_yaml(tree))


_LOOSE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@settings(max_examples=100, deadline=None, suppress_health_check=_LOOSE)
@given(st.data())
def test_a_hundred_mutations_of_shipped_configs_never_raise_anything_else(data):
    check(data)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=_LOOSE)
@given(st.data())
def test_two_thousand_mutations_of_shipped_configs_never_raise_anything_else(data):
    check(data)
