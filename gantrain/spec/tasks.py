"""Which spec a task has."""

from __future__ import annotations

from typing import Any, TypeAlias

from gantrain.spec.history import HistorySpec
from gantrain.spec.model import Spec
from gantrain.spec.plain import item

AnySpec: TypeAlias = Spec | HistorySpec

SPECS: dict[str, type[AnySpec]] = {"gan": Spec, "history": HistorySpec}


def spec_class(tree: Any) -> type[AnySpec]:
    """The class that reads a tree, by its `task`; that of `gan` where there is none, or no such task."""
    task = item(tree, "task")
    return SPECS.get(task, Spec) if isinstance(task, str) else Spec
