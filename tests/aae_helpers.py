"""Builders of tiny experiments of task `aae`."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from gantrain import registry
from gantrain.spec.aae import AaeSpec

MLP = {
    "name": "tiny",
    "seed": 7,
    "task": "aae",
    "data": {"source": "digits", "batch_size": 8},
    "encoder": {"name": "mlp", "units": [16]},
    "decoder": {"name": "mlp", "units": [16]},
    "discriminator": {"name": "mlp", "units": [8, 8]},
    "prior": {"name": "normal", "size": 4},
    "training": {"steps": 6, "steps_per_call": 3},
}
BY_LABEL = {
    "prior": {"name": "gaussian_mixture", "size": 2, "by_label": True},
    "discriminator.conditioning": "concat",
    "decoder.conditioning": "embedding",
}


def aae_tree(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """The tree of `MLP` with changes given by dotted keys."""
    tree = copy.deepcopy(MLP)
    for key, value in (changes or {}).items():
        *parents, last = key.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[last] = copy.deepcopy(value)
    return tree


def aae_spec(changes: dict[str, Any] | None = None) -> AaeSpec:
    """The spec of `aae_tree`; the static rules are not asked."""
    registry.load_built_in()
    return AaeSpec.model_validate(aae_tree(changes))


def aae_experiment(changes: dict[str, Any] | None = None, *, started: bool = False) -> Any:
    """A built experiment; `started` gives it its data as well."""
    from gantrain import aae_experiment as aae
    from gantrain import experiment

    spec = aae_spec(changes)
    source, _ = experiment.open_source(spec, Path())
    built = aae.build_aae(spec, source)
    if started:
        built.start_data()
    return built
