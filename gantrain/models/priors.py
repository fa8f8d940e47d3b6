"""Laws of the latents: functions (count, size, key [2] int64) -> latents [count,size] float32.

Every draw is stateless philox: equal keys give equal numbers, on a CPU, on a GPU and under XLA.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.models import catalog

Prior: TypeAlias = Callable[..., Tensor]  # (count, size, key), and labels [count] for a law by label


def build_normal(_: catalog.Normal) -> Prior:
    """Builder: independent N(0, 1)."""

    def normal(count: Tensor, size: int, key: Tensor) -> Tensor:
        return tf.random.stateless_normal([count, size], key, alg="philox")

    return normal


def build_uniform(_: catalog.Uniform) -> Prior:
    """Builder: independent, uniform in [-1, 1)."""

    def uniform(count: Tensor, size: int, key: Tensor) -> Tensor:
        return tf.random.stateless_uniform([count, size], key, -1.0, 1.0, alg="philox")

    return uniform


def build_truncated_normal(settings: catalog.TruncatedNormal) -> Prior:
    """Builder: independent N(0, 1) given |z| <= limit, by inversion: z = F^-1(u), u uniform in [F(-limit), F(limit)).

    F is the normal CDF. In float64, because in float32 the largest u below 1 is already F(5.2).
    """
    limit = tf.constant(settings.limit, tf.float64)

    def truncated_normal(count: Tensor, size: int, key: Tensor) -> Tensor:
        low = _normal_cdf(-limit)
        uniform = tf.random.stateless_uniform([count, size], key, low, 1.0 - low, tf.float64, alg="philox")
        return tf.cast(tf.clip_by_value(tf.math.ndtri(uniform), -limit, limit), tf.float32)

    return truncated_normal


def _normal_cdf(value: Tensor) -> Tensor:
    """F(x) = erfc(-x / sqrt 2) / 2, exact in the lower tail."""
    return 0.5 * tf.math.erfc(-value / tf.sqrt(tf.constant(2.0, tf.float64)))
