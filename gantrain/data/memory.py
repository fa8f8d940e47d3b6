"""A source that is one array in memory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from gantrain.data.pairing import Pairing
from gantrain.data.report import Report
from gantrain.data.table import Table
from gantrain.interfaces import Range

LARGEST_IN_MEMORY = 512 * 2**20  # bytes; beyond, examples are read when they are needed


@dataclass(frozen=True, eq=False)
class MemorySource:
    """All examples in `in_memory` [N,*shape], uint8 or float32."""

    in_memory: np.ndarray
    value_range: Range | None
    labels: np.ndarray | None = None
    class_names: tuple[str, ...] = ()
    report: Report | None = None
    table: Table | None = None  # of rows that came from a table
    pairing: Pairing | None = None  # targets and sequences, where the source was asked for them
    shape: tuple[int, ...] = field(init=False)
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.in_memory.shape[1:]))
        object.__setattr__(self, "length", len(self.in_memory))

    def load(self, indices: np.ndarray) -> np.ndarray:
        """Examples [n,*shape] at `indices` [n]."""
        return self.in_memory[indices]

    def fingerprint(self) -> str:
        """Digest of contents, labels, class names, the way back to a table, targets and sequences."""
        way_back = () if self.table is None else (self.table.model_dump_json(),)
        beside = () if self.pairing is None else (self.pairing.targets, self.pairing.sequences)
        return digest(self.in_memory, self.labels, *self.class_names, *way_back, *beside)


def digest(*parts: np.ndarray | str | None) -> str:
    """sha256 over the parts, each with its kind, dtype, shape and length, so that no two lists of parts look alike."""
    total = hashlib.sha256()
    for part in parts:
        if part is None:
            total.update(b"none;")
        elif isinstance(part, str):
            content = part.encode("utf-8", "surrogateescape")
            total.update(f"text {len(content)};".encode() + content)
        else:
            total.update(f"array {part.dtype.str} {part.shape};".encode())
            total.update(np.ascontiguousarray(part).data)
    return total.hexdigest()
