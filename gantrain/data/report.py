"""What a source says about its data once it was opened: lines for the user, and everything for the run directory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Report:
    """`lines` is a short table, `warnings` are worth reading, `tree` (JSON) is the whole report; `skipped` files are left out."""

    lines: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    tree: dict[str, Any] = field(default_factory=dict)
    skipped: int = 0


def report_of(source: object) -> Report | None:
    """The report of a source that has one."""
    report = getattr(source, "report", None)
    return report if isinstance(report, Report) else None
