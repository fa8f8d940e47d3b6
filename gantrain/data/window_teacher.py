"""Inputs and targets of which the truth is known: targets are made by a network of the same kind, from its last outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gantrain.data.catalog import WindowTeacher
from gantrain.data.memory import MemorySource
from gantrain.data.pairing import Pairing


def build(settings: WindowTeacher, base_dir: Path) -> MemorySource:  # noqa: ARG001
    """Inputs [size,inputs] of a slow random walk, x_i = a x_{i-1} + sqrt(1 - a^2) n_i with n_i ~ N(0, I), and targets [size,1].

    t_i = || (y_i, y_{i-1}, ..., y_{i-K+1}) || with y = max(0, W x), W ~ N(0, 1 / inputs), and zeros before a sequence starts.
    """
    random = np.random.Generator(np.random.Philox(key=settings.seed))
    weights = random.standard_normal((settings.inputs, settings.outputs)) / np.sqrt(settings.inputs)
    noise = random.standard_normal((settings.size, settings.inputs))
    sequences = np.arange(settings.size) * settings.sequences // settings.size
    starts = np.flatnonzero(np.diff(sequences, prepend=-1))
    inputs = np.concatenate([_walk(part, settings.memory) for part in np.split(noise, starts[1:])])
    squares = np.square(np.maximum(inputs @ weights, 0)).sum(axis=1)
    targets = np.concatenate([_norms(part, settings.length) for part in np.split(squares, starts[1:])])
    pairing = Pairing(targets[:, None].astype(np.float32), sequences if settings.sequences > 1 else None)
    return MemorySource(inputs.astype(np.float32), None, pairing=pairing)


def _walk(noise: np.ndarray, memory: float) -> np.ndarray:
    """The law above, from noise [n,inputs]; each x has variance one."""
    steps = noise.copy()
    for index in range(1, len(steps)):
        steps[index] = memory * steps[index - 1] + np.sqrt(1 - memory**2) * noise[index]
    return steps


def _norms(squares: np.ndarray, length: int) -> np.ndarray:
    """Root of the sum of the last `length` of [n]."""
    total = np.cumsum(squares)
    return np.sqrt(np.maximum(total - np.concatenate([np.zeros(min(length, len(total))), total[:-length]]), 0))
