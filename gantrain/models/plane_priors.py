"""Laws with a shape in the plane: functions (count, size, key [2] int64) -> latents [count,size] float32, as in priors.py."""

from __future__ import annotations

import math

import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.models.prior_catalog import MixturePrior, SwissRoll
from gantrain.models.priors import Prior

SECOND = 0x5DEECE66D


def build_gaussian_mixture(settings: MixturePrior) -> Prior:
    """Builder: with a = 2 pi k / modes and e, f ~ N(0, 1), (radius + radial_std e) (cos a, sin a) + std f (-sin a, cos a).

    k is uniform, or label modulo modes; numbers from the third on are N(0, std^2).
    """
    radial_std = settings.std if settings.radial_std is None else settings.radial_std

    def at_modes(modes: Tensor, size: int, key: Tensor) -> Tensor:
        angle = tf.cast(modes, tf.float32) * (2.0 * math.pi / settings.modes)
        noise = tf.random.stateless_normal([tf.size(modes), size], key, alg="philox")
        out, along = settings.radius + radial_std * noise[:, 0], settings.std * noise[:, 1]
        x, y = out * tf.cos(angle) - along * tf.sin(angle), out * tf.sin(angle) + along * tf.cos(angle)
        return tf.concat([tf.stack([x, y], axis=1), settings.std * noise[:, 2:]], axis=1)

    def mixture(count: Tensor, size: int, key: Tensor) -> Tensor:
        modes = tf.random.stateless_uniform([count], _beside(key), 0, settings.modes, tf.int32, alg="philox")
        return at_modes(modes, size, key)

    def mixture_by_label(count: Tensor, size: int, key: Tensor, labels: Tensor) -> Tensor:
        del count
        return at_modes(labels % settings.modes, size, key)

    return mixture_by_label if settings.by_label else mixture


def build_swiss_roll(settings: SwissRoll) -> Prior:
    """Builder: t (cos(2 pi turns t), sin(2 pi turns t)) radius with t = sqrt(u), u uniform in [0, 1), and N(0, std^2) on both.

    The length of the line up to t grows about as t^2, so that the root of a uniform number is about equally dense along it.
    """

    def swiss_roll(count: Tensor, size: int, key: Tensor) -> Tensor:
        t = tf.sqrt(tf.random.stateless_uniform([count], _beside(key), alg="philox"))
        angle = 2.0 * math.pi * settings.turns * t
        line = settings.radius * tf.stack([t * tf.cos(angle), t * tf.sin(angle)], axis=1)
        return line + settings.std * tf.random.stateless_normal([count, size], key, alg="philox")

    return swiss_roll


def _beside(key: Tensor) -> Tensor:
    """A second key for the same draw: the first number of a key is a hash, so that any other one is as good."""
    return tf.bitwise.bitwise_xor(tf.cast(key, tf.int64), tf.constant([SECOND, 0], tf.int64))
