"""What belongs to each example besides itself: a target, and the sequence it is part of (free of TensorFlow)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gantrain.errors import DataError
from gantrain.interfaces import Source


@dataclass(frozen=True, eq=False)
class Pairing:
    """`targets` [N,T] float32; `sequences` [N] int64, numbers from 0, or None: all examples are one sequence."""

    targets: np.ndarray
    sequences: np.ndarray | None = None

    @property
    def size(self) -> int:
        """T, the numbers of one target."""
        return self.targets.shape[1]

    @property
    def longest(self) -> int:
        """Most examples in a row that are of one sequence."""
        return len(self.targets) if self.sequences is None else longest_run(self.sequences)


def pairing_of(source: Source) -> Pairing | None:
    """The targets and sequences of a source, or None if it has none."""
    found = getattr(source, "pairing", None)
    return found if isinstance(found, Pairing) else None


def numbered(names: np.ndarray) -> np.ndarray:
    """[N] of any kind -> [N] int64 from 0: equal numbers for equal names."""
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def paired(targets: np.ndarray, sequences: np.ndarray | None, length: int, place: str) -> Pairing:
    """Checked targets [N] or [N,T] of numbers, with the sequences they are of. Raises DataError that names `place`."""
    if targets.dtype.kind not in "uif" or targets.ndim not in (1, 2) or len(targets) != length or 0 in targets.shape:
        raise DataError(
            f"the targets, {place}, are {targets.dtype} {targets.shape}; wanted are numbers, ({length},) or ({length}, T)"
        )
    with np.errstate(over="ignore"):  # reported below
        values = np.ascontiguousarray(targets.reshape(length, -1), np.float32)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise DataError(
            f"the targets, {place}, hold values that are NaN, infinite or too large for float32 in {len(bad):,} examples, first "
            f"in example {bad[0]}; clean them first"
        )
    return Pairing(values, sequences)


def longest_run(sequences: np.ndarray) -> int:
    """Length of the longest stretch of equal neighbours of [N]."""
    ends = np.flatnonzero(np.append(np.diff(sequences) != 0, True))
    return int(np.diff(np.append(-1, ends)).max())
