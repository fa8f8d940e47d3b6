"""Builders of tiny experiments of task `aae`."""

from __future__ import annotations

from typing import Any

from gantrain.spec.aae import AaeSpec
from tests.helpers import built_experiment, spec_of_tree, with_changes

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
    """`MLP` with changes given by dotted keys."""
    return with_changes(MLP, changes)


def aae_spec(changes: dict[str, Any] | None = None) -> AaeSpec:
    """The spec of `aae_tree`."""
    return spec_of_tree(aae_tree(changes))


def aae_experiment(changes: dict[str, Any] | None = None, *, started: bool = False) -> Any:
    """A built experiment; `started` gives it its data as well."""
    return built_experiment(aae_spec(changes), started=started)
