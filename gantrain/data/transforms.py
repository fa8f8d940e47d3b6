"""Between the values of a source and the values the networks see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from gantrain.errors import DivergedError, UsageError
from gantrain.interfaces import Range, Tensor

CACHED_VALUES = 2**16  # transformed together


@dataclass(frozen=True)
class RangeTransform:
    """Affine map of the range `source` onto the range `target`, exact at both ends.

    y = t0 * (1 - u) + t1 * u with u = (x - s0) / (s1 - s0), for source [s0, s1] and target [t0, t1].
    `source` None: vectors without bounds, which then need `target` None. `target` None: values pass as they are.
    Raises UsageError for a target without a source range.
    """

    source: Range | None
    target: Range | None

    def __post_init__(self) -> None:
        if self.source is None and self.target is not None:
            raise UsageError(
                f"data.range is {list(self.target)}, but the values of this source have no bounds; write range: null"
            )

    def forward(self, values: Tensor) -> Tensor:
        """Source values (uint8 or float tensor, any shape) -> float32 tensor in the target range."""
        values = tf.cast(values, tf.float32)
        if self.source is None or self.target is None:
            return values
        return _affine(values, self.source, self.target)

    def forward_array(self, values: np.ndarray) -> np.ndarray:
        """The numbers of `forward`, to the bit, by NumPy: a few examples at a time, so that the work stays in the cache."""
        seen = _aligned(values.shape)
        count = max(1, CACHED_VALUES // max(1, values[0].size))
        for start in range(0, len(values), count):
            part = seen[start : start + count]
            np.copyto(part, values[start : start + count], casting="unsafe")
            if self.source is not None and self.target is not None:
                _affine_in_place(part, self.source, self.target)
        return seen

    def inverse(self, values: np.ndarray) -> np.ndarray:
        """Values the networks gave -> float32 in source units, not clipped. Raises DivergedError if one is not finite."""
        _check_finite(values)
        if self.source is None or self.target is None:
            return np.asarray(values, np.float32)
        return _affine(np.asarray(values, np.float64), self.target, self.source).astype(np.float32)

    def to_uint8(self, values: np.ndarray) -> np.ndarray:
        """Values the networks gave -> uint8 for a picture file: the range becomes 0..255, rounded, and clipped before the cast.

        Raises UsageError for values without bounds, DivergedError if one is not finite.
        """
        return self.to_levels(values)[0]

    def to_levels(self, values: np.ndarray) -> tuple[np.ndarray, int]:
        """The same, and how many values had to be clipped because they lay outside by more than half a level."""
        _check_finite(values)
        levels = np.rint(_affine(np.asarray(values, np.float64), self._seen_range(), (0.0, 255.0)))
        clipped = np.clip(levels, 0, 255)
        return clipped.astype(np.uint8), int(np.count_nonzero(clipped != levels))

    def _seen_range(self) -> Range:
        """Range of what the networks see."""
        seen = self.target or self.source
        if seen is None:
            raise UsageError("values without bounds are not pictures; write them as npz")
        return seen


def _aligned(shape: tuple[int, ...]) -> np.ndarray:
    """Room for float32 that TensorFlow takes as it is, without a copy: on an address that 64 divides."""
    size = int(np.prod(shape))
    room = np.empty(size + 16, np.float32)
    start = -room.ctypes.data // 4 % 16
    return room[start : start + size].reshape(shape)


def _affine(values: Any, start: Range, end: Range) -> Any:
    part = (values - start[0]) / (start[1] - start[0])
    return end[0] * (1 - part) + end[1] * part


def _affine_in_place(values: np.ndarray, start: Range, end: Range) -> None:
    """`_affine` of float32 values, operation by operation; those that change no bit are left out."""
    if start[0] != 0:
        values -= np.float32(start[0])
    if start[1] - start[0] != 1:
        values /= np.float32(start[1] - start[0])
    if end == (0, 1):
        return
    rest = np.float32(1) - values
    if end[0] != -1:
        rest *= np.float32(-end[0])
    if end[1] != 1:
        values *= np.float32(end[1])
    values -= rest


def _check_finite(values: np.ndarray) -> None:
    bad = values.size - int(np.count_nonzero(np.isfinite(values)))
    if bad:
        raise DivergedError(
            f"{bad:,} of {values.size:,} generated values are not finite (NaN or infinite); "
            "use an earlier checkpoint, or a lower learning rate"
        )
