"""Tiny experiments of task history: a network of a few numbers on a teacher's sequence, so that a test costs a second."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from gantrain import registry
from gantrain.spec.history import HistorySpec

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
    tree = copy.deepcopy(SMALL)
    for key, value in (changes or {}).items():
        *parents, last = key.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[last] = copy.deepcopy(value)
    return tree


def history_spec(changes: dict[str, Any] | None = None) -> HistorySpec:
    """The spec of `history_tree`; the static rules are not asked."""
    registry.load_built_in()
    return HistorySpec.model_validate(history_tree(changes))


def history_experiment(changes: dict[str, Any] | None = None, *, started: bool = False) -> Any:
    """A built experiment; `started` gives it its data as well."""
    from gantrain import experiment

    spec = history_spec(changes)
    source, _ = experiment.open_source(spec, Path())
    built = experiment.build_any(spec, source)
    if started:
        built.start_data()
    return built
