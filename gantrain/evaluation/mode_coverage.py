"""How many modes of a Gaussian mixture a generator finds, and how many of its samples lie near one. Pure NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NEAR = 3.0  # standard deviations from a mode's centre, Euclidean
COVERED_FROM = 0.01  # share of the samples that must lie near a mode: 100 of 10,000


class Coverage(NamedTuple):
    """`modes`: how many are covered; `high_quality`: share of the samples that lie near a mode."""

    modes: int
    high_quality: float


def mode_coverage(samples: np.ndarray, centres: np.ndarray, std: float) -> Coverage:
    """Samples [N,D] against centres [K,D]. A sample belongs to its nearest mode, and is near it within 3 standard deviations.

    A sample that is not finite is near no mode.
    """
    distance = np.sqrt(np.sum(np.square(samples[:, None, :] - centres[None, :, :]), axis=-1))
    distance = np.where(np.isfinite(distance), distance, np.inf)
    near = distance.min(axis=1) <= NEAR * std
    counts = np.bincount(distance.argmin(axis=1)[near], minlength=len(centres))
    return Coverage(int((counts >= COVERED_FROM * len(samples)).sum()), float(near.mean()))
