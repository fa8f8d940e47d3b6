"""Builders of tiny experiments: nets of a few units on 8x8 digits, so that a test costs a second, not a minute."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from gantrain import registry
from gantrain.spec.model import Spec
from gantrain.spec.tasks import spec_class

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


def with_changes(base: dict[str, Any], changes: dict[str, Any] | None) -> dict[str, Any]:
    """A copy of a tree with changes given by dotted keys, such as {"training.fakes": "fresh"}."""
    tree = copy.deepcopy(base)
    for key, value in (changes or {}).items():
        *parents, last = key.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[last] = copy.deepcopy(value)
    return tree


def spec_of_tree(tree: dict[str, Any]) -> Any:
    """The spec of the tree's task; the static rules are not asked."""
    registry.load_built_in()
    return spec_class(tree).model_validate(tree)


def built_experiment(spec: Any, *, started: bool) -> Any:
    """The experiment of any task's spec; `started` gives it its data as well."""
    from gantrain import experiment

    source, _ = experiment.open_source(spec, Path())
    built = experiment.build_any(spec, source)
    if started:
        built.start_data()
    return built


def tiny_tree(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """`MLP` with changes."""
    return with_changes(MLP, changes)


def tiny_spec(changes: dict[str, Any] | None = None) -> Spec:
    """The spec of `tiny_tree`."""
    return spec_of_tree(tiny_tree(changes))


def tiny_experiment(changes: dict[str, Any] | None = None, *, started: bool = False) -> Any:
    """A built experiment."""
    return built_experiment(tiny_spec(changes), started=started)


def snapshot(variables: Any) -> dict[str, bytes]:
    """The bytes of each variable of a mapping."""
    return {key: variable.numpy().tobytes() for key, variable in variables.items()}


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    """Keys whose bytes differ."""
    assert before.keys() == after.keys()
    return {key for key in before if before[key] != after[key]}
