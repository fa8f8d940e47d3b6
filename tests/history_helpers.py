"""Tiny experiments of task history: a network of a few numbers on a teacher's sequence, so that a test costs a second."""

from __future__ import annotations

from typing import Any

from gantrain.spec.history import HistorySpec
from tests.helpers import built_experiment, spec_of_tree, with_changes

SMALL: dict[str, Any] = {
    "name": "tiny-history",
    "seed": 7,
    "task": "history",
    "data": {
        "source": {"name": "window_teacher", "inputs": 5, "outputs": 3, "length": 3, "size": 42},
        "order": "sequential",
        "batch_size": 8,
        "epoch_end": "partial",
    },
    "model": {"name": "mlp", "units": [3], "activation": "tanh"},  # a ReLU of three numbers may be dead
    "history": {"length": 3},
    "training": {"steps": 12, "steps_per_call": 3},
}


def history_tree(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """`SMALL` with changes given by dotted keys."""
    return with_changes(SMALL, changes)


def history_spec(changes: dict[str, Any] | None = None) -> HistorySpec:
    """The spec of `history_tree`."""
    return spec_of_tree(history_tree(changes))


def history_experiment(changes: dict[str, Any] | None = None, *, started: bool = False) -> Any:
    """A built experiment; `started` gives it its data as well."""
    return built_experiment(history_spec(changes), started=started)
