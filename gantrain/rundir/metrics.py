"""`metrics.jsonl` and `log.txt`: files that only grow, and survive being cut off at any byte."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

from gantrain.rundir.files import append_line, os_errors_explained, read_bounded, sync_file, write_atomically

_MAX_BYTES = 2**30
Value: TypeAlias = float | int | str | None
Record: TypeAlias = dict[str, Value]


class CutBack(NamedTuple):
    """What `MetricsLog.cut_back` did, in lines."""

    kept: int
    later: int  # removed: of steps after the wanted one
    damaged: int  # removed: torn by a crash, or not one of our records


class MetricsLog:
    """One JSON object per line, with at least an integer `step`.

    Floats are written so that reading them gives the same bits; NaN and infinity, which JSON lacks, are written as null.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, record: Mapping[str, float | int | str]) -> None:
        """Add one line with the keys in the given order; it is with the system when this returns. Raises RunError."""
        line = json.dumps({key: _finite(value) for key, value in record.items()}, ensure_ascii=False, allow_nan=False)
        append_line(self.path, line)

    def sync(self) -> None:
        """Force what was appended to disk (before a checkpoint of the same step counts as good). Raises RunError."""
        sync_file(self.path)

    def read(self) -> list[Record]:
        """All whole records, in order. No file: none. Damaged lines are left out. Raises RunError."""
        return [record for _, record in self._lines() if record is not None]

    def damaged(self) -> int:
        """How many lines cannot be read; a last one torn by a crash counts. Raises RunError."""
        return sum(record is None for _, record in self._lines())

    def cut_back(self, step: int, proven: int | None = None) -> CutBack:
        """Keep the records with `step` at most `step`; drop later ones and damaged lines. Raises RunError.

        Run it before a resumed run appends: the lines after the restored step will be computed again. `proven`: bytes that are
        known to be those of that step; then these are kept and nothing else.
        """
        lines = list(self._lines())
        most = sum(len(line) for line, _ in lines) if proven is None else proven
        starts = itertools.accumulate((len(line) for line, _ in lines), initial=0)
        early = [line for line, start in zip(lines, starts, strict=False) if start < most]
        kept = [line for line, record in early if record is not None and _step_of(record) <= step]
        damaged = sum(record is None for _, record in lines)
        if len(kept) < len(lines):
            write_atomically(self.path, b"".join(kept))
        return CutBack(len(kept), len(lines) - len(kept) - damaged, damaged)

    def _lines(self) -> Iterator[tuple[bytes, Record | None]]:
        with os_errors_explained("read", self.path):
            data = read_bounded(self.path, _MAX_BYTES) if self.path.exists() else b""
        for line in data.split(b"\n")[:-1]:
            yield line + b"\n", _parse(line)
        if tail := data.rpartition(b"\n")[2]:
            yield tail, None  # no newline: a write that did not end


class LogFile:
    """`log.txt`: what was said to the user, for people to read later."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def line(self, text: str) -> None:
        """Append `text`, each of its lines with the time in UTC. Raises RunError."""
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        append_line(self.path, "\n".join(f"{time} {part}" for part in text.splitlines() or [""]))


def _finite(value: Value) -> Value:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _parse(line: bytes) -> Record | None:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):  # also bytes that are not UTF-8
        return None
    if not isinstance(value, dict):
        return None
    record = cast("Record", value)
    return record if type(record.get("step")) is int else None  # true is an int, too


def _step_of(record: Record) -> int:
    return cast("int", record["step"])
