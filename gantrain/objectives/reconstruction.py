"""How far a reconstruction is from its example: functions (x [B,*shape], rebuilt [B,*shape]) -> [B] float32.

Each is a mean over the numbers of an example.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import tensorflow as tf

from gantrain.interfaces import Tensor

Reconstruction: TypeAlias = Callable[[Tensor, Tensor], Tensor]
EPSILON = 1e-6  # distance of a probability from 0 and 1: float32 holds 1 - 1e-6, and log of it is exact to 6 %


def mse(x: Tensor, rebuilt: Tensor) -> Tensor:
    """Mean of (x - y)^2."""
    return _mean(tf.square(x - rebuilt))


def mae(x: Tensor, rebuilt: Tensor) -> Tensor:
    """Mean of |x - y|."""
    return _mean(tf.abs(x - rebuilt))


def binary_cross_entropy(x: Tensor, rebuilt: Tensor) -> Tensor:
    """Mean of -x log y - (1 - x) log(1 - y), for x and y in [0, 1]; y is kept away from both ends, so that it stays finite."""
    y = tf.clip_by_value(rebuilt, EPSILON, 1.0 - EPSILON)
    return _mean(-x * tf.math.log(y) - (1.0 - x) * tf.math.log(1.0 - y))


RECONSTRUCTIONS: dict[str, Reconstruction] = {"mse": mse, "mae": mae, "binary_cross_entropy": binary_cross_entropy}


def _mean(values: Tensor) -> Tensor:
    return tf.reduce_mean(tf.cast(values, tf.float32), axis=list(range(1, len(values.shape))))
