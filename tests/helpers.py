"""Builders of tiny experiments: nets of a few units on 8x8 digits, so that a test costs a second, not a minute."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from gantrain import registry
from gantrain.spec.model import Spec

MLP = {
    "name": "tiny",
    "seed": 7,
    "data": {"source": "digits", "batch_size": 8},
    "generator": {"name": "mlp", "units": [8]},
    "discriminator": {"name": "mlp", "units": [8, 8]},
    "latent": {"size": 4},
    "training": {"steps": 6, "steps_per_call": 3},
}
BATCH_NORM = {"generator.norm": "batch_norm", "discriminator.norm": "batch_norm"}
DROPOUT = {"discriminator.dropout": 0.3}


def tiny_tree(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """The tree of `MLP` with changes given by dotted keys, such as {"training.fakes": "fresh"}."""
    tree = copy.deepcopy(MLP)
    for key, value in (changes or {}).items():
        *parents, last = key.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[last] = copy.deepcopy(value)
    return tree


def tiny_spec(changes: dict[str, Any] | None = None) -> Spec:
    """The spec of `tiny_tree`; the static rules are not asked."""
    registry.load_built_in()
    return Spec.model_validate(tiny_tree(changes))


def tiny_experiment(changes: dict[str, Any] | None = None, *, started: bool = False) -> Any:
    """A built experiment; `started` gives it its data as well."""
    from gantrain import experiment

    spec = tiny_spec(changes)
    source, _ = experiment.open_source(spec, Path())
    built = experiment.build(spec, source)
    if started:
        built.start_data()
    return built


def snapshot(variables: Any) -> dict[str, bytes]:
    """The bytes of each variable of a mapping."""
    return {key: variable.numpy().tobytes() for key, variable in variables.items()}


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    """Keys whose bytes differ."""
    assert before.keys() == after.keys()
    return {key for key in before if before[key] != after[key]}
