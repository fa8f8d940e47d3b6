"""Points around known modes in the plane: the classic test of mode dropping."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from gantrain.data.catalog import GaussianMixture
from gantrain.data.memory import MemorySource


def build(settings: GaussianMixture, base_dir: Path) -> MemorySource:  # noqa: ARG001
    """`size` independent points [size,2] float32; the label is the mode. x = centre + std * n, n ~ N(0, I)."""
    random = np.random.Generator(np.random.Philox(key=settings.seed))
    labels = _labels(settings, random)
    points = modes(settings)[labels] + settings.std * random.standard_normal((settings.size, 2))
    return MemorySource(points.astype(np.float32), None, labels, tuple(f"mode {mode}" for mode in range(settings.modes)))


def _labels(settings: GaussianMixture, random: np.random.Generator) -> np.ndarray:
    if settings.imbalance == 1:
        return random.integers(settings.modes, size=settings.size, dtype=np.int64)
    return random.choice(settings.modes, size=settings.size, p=shares(settings)).astype(np.int64)


def shares(settings: GaussianMixture) -> np.ndarray:
    """Share of each mode [K], falling geometrically: p_k ~ imbalance^(-k / (K - 1)), so p_0 / p_(K-1) = imbalance."""
    weights = settings.imbalance ** (-np.arange(settings.modes) / max(settings.modes - 1, 1))
    return weights / weights.sum()


def modes(settings: GaussianMixture) -> np.ndarray:
    """Centres of the modes [K,2] float64. Ring: radius * (cos a, sin a), a = 2 pi k / K. Grid: around the origin, row by row."""
    if settings.layout == "ring":
        angle = 2 * np.pi * np.arange(settings.modes) / settings.modes
        return settings.radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    side = math.isqrt(settings.modes)
    ticks = settings.spacing * (np.arange(side) - (side - 1) / 2)
    return np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
