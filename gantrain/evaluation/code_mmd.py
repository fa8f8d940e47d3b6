"""How far codes are from their prior: root of the biased MMD^2 (Gretton et al. 2012, JMLR 13, equation 5). Pure NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cached_property

import numpy as np

CODES = 2000  # examples whose codes are compared, and prior draws they are compared with
FLOOR_PAIRS = 20  # pairs of prior draws behind the floor


def squared_distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """|x_i - y_j|^2 of [n,Z] and [m,Z], as [n,m] float64."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    product = x @ y.T
    return np.maximum(np.square(x).sum(1)[:, None] + np.square(y).sum(1)[None, :] - 2.0 * product, 0.0)


def kernel_mean(x: np.ndarray, y: np.ndarray, bandwidth: float) -> float:
    """Mean over all pairs of k(x, y) = exp(-|x - y|^2 / (2 bandwidth^2))."""
    return float(np.exp(squared_distances(x, y) / (-2.0 * bandwidth**2)).mean())


def mmd(x: np.ndarray, y: np.ndarray, bandwidth: float) -> float:
    """sqrt(E k(x,x') + E k(y,y') - 2 E k(x,y)), all pairs included (biased): 0 only for equal samples."""
    own = kernel_mean(x, x, bandwidth) + kernel_mean(y, y, bandwidth)
    return float(np.sqrt(max(own - 2.0 * kernel_mean(x, y, bandwidth), 0.0)))


class CodeScore:
    """Compares codes with a prior. `draw(j)` gives the j-th independent prior draw, as many rows as there are codes."""

    def __init__(self, draw: Callable[[int], np.ndarray]) -> None:
        self._draw = draw

    @cached_property
    def bandwidth(self) -> float:
        """Median distance between two prior draws."""
        return float(np.sqrt(np.median(squared_distances(self._draw(0), self._draw(1)))))

    @cached_property
    def floor(self) -> float:
        """Median MMD of 20 pairs of prior draws: what a perfect encoder would get."""
        draws = [self._draw(index) for index in range(FLOOR_PAIRS + 1)]
        own = [kernel_mean(draw, draw, self.bandwidth) for draw in draws]
        cross = [kernel_mean(first, second, self.bandwidth) for first, second in itertools.pairwise(draws)]
        squares = [a + b - 2.0 * c for (a, b), c in zip(itertools.pairwise(own), cross, strict=True)]
        return float(np.median(np.sqrt(np.maximum(squares, 0.0))))

    def of(self, codes: np.ndarray) -> dict[str, float]:
        """The distance of codes [n,Z] to the first prior draw, and the floor."""
        return {"eval/code_mmd": mmd(codes, self._draw(0), self.bandwidth), "eval/code_mmd_floor": self.floor}
