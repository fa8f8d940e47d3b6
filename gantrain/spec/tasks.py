"""Which spec a task has."""

from __future__ import annotations

from typing import Any, TypeAlias

from gantrain.spec.aae import AaeSpec
from gantrain.spec.history import HistorySpec
from gantrain.spec.model import Spec
from gantrain.spec.plain import as_mapping

AnySpec: TypeAlias = Spec | AaeSpec | HistorySpec

SPECS: dict[str, type[AnySpec]] = {"gan": Spec, "aae": AaeSpec, "history": HistorySpec}


def spec_class(tree: Any) -> type[AnySpec]:
    """The class that reads a tree: that of its `task`, or of `gan`; for an unknown task, the one with most of its keys."""
    keys = as_mapping(tree) or {}
    task = keys.get("task", "gan")
    named = SPECS.get(task) if isinstance(task, str) else None
    return named or max(SPECS.values(), key=lambda spec: len(spec.model_fields.keys() & keys.keys()))
