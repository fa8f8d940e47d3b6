"""Outputs of a generator as a picture: a grid of images, or a scatter of 2-D points over real ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from gantrain.data.transforms import RangeTransform
from gantrain.interfaces import Source
from gantrain.rundir.grid import best_layout, in_class_rows, limits_around, scatter, tile, write_png

REFERENCE_POINTS = 2000  # real points behind a scatter


@dataclass(frozen=True)
class Levels:
    """What was written: lowest and highest level 0..255, and how many of all values had to be clipped to get there."""

    low: int
    high: int
    clipped: int
    count: int

    def __str__(self) -> str:
        """In words."""
        span = f"levels {self.low} to {self.high}"
        if not self.clipped:
            return span
        share = 100 * self.clipped / self.count
        return f"{span}, {self.clipped:,} of {self.count:,} values ({share:.2g} %) left the range and were clipped"


Note: TypeAlias = Callable[[Levels], None]


def _unheard(levels: Levels) -> None:
    del levels


@dataclass(frozen=True)
class Pictures:
    """How examples of one run become pictures: the inverse of the run's range transform, then a grid.

    `note` is told the levels of each picture.
    """

    transform: RangeTransform
    shape: tuple[int, ...]
    reference: np.ndarray | None = None  # real 2-D points [m,2]
    note: Note = _unheard

    @classmethod
    def of(cls, transform: RangeTransform, source: Source, note: Note = _unheard) -> Pictures:
        """For a source: real points are kept for scatters of 2-D data."""
        is_plane = tuple(source.shape) == (2,)
        reference = source.load(spread(source.length, REFERENCE_POINTS)) if is_plane else None
        return cls(transform, tuple(source.shape), reference, note)

    @property
    def drawable(self) -> bool:
        """Whether there is a picture for this shape: images and 2-D points have one."""
        return len(self.shape) == 3 or self.shape == (2,)

    def write_grid(self, path: Path, outputs: np.ndarray, layout: tuple[int, int] | None = None) -> None:
        """Values the networks gave or see [n,*shape] as one PNG; `layout` is (rows, columns). Raises RunError."""
        write_png(path, self.picture(outputs, layout))

    def levels(self, outputs: np.ndarray) -> np.ndarray:
        """Values the networks gave or see -> uint8 of the same shape."""
        levels, clipped = self.transform.to_levels(outputs)
        self.note(Levels(int(levels.min()), int(levels.max()), clipped, levels.size))
        return levels

    def picture(self, outputs: np.ndarray, layout: tuple[int, int] | None = None, classes: int | None = None) -> np.ndarray:
        """The same as uint8 [H,W,c]: bytes are the inverse of the recorded range transform, clipped before the cast.

        `classes`: the outputs are of that many classes in turn; without a `layout` each class gets a row.
        """
        if len(self.shape) == 3:
            levels = self.levels(outputs)
            if layout is None and classes is not None and len(outputs) >= classes > 1:
                return tile(*in_class_rows(levels, classes))
            return tile(levels, *(layout or best_layout(len(outputs))))
        points = self.transform.inverse(outputs)
        around = points if self.reference is None else self.reference
        return scatter(points, self.reference, limits_around(around))

    def beside(self, first: np.ndarray, second: np.ndarray, layout: tuple[int, int] | None = None) -> np.ndarray:
        """Pairs of examples [n,*shape], the second of each right of the first; points: the first as gray, the second red.

        `layout`: rows and columns of pairs.
        """
        if len(self.shape) == 3:
            rows, columns = layout or best_layout(len(first))
            pairs = np.stack([first, second], axis=1).reshape(2 * len(first), *self.shape)
            return tile(self.levels(pairs), rows, 2 * columns)
        real, rebuilt = self.transform.inverse(first), self.transform.inverse(second)
        return scatter(rebuilt, real, limits_around(real))


def spread(length: int, count: int) -> np.ndarray:
    """Up to `count` indices spread evenly over `length` examples."""
    return np.unique(np.linspace(0, length - 1, min(count, length)).astype(np.int64))
