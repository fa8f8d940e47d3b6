"""Moving average of the generator, set by its half-life in images (as in StyleGAN), with its own BatchNorm statistics."""

from __future__ import annotations

from collections.abc import Mapping

import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.spec.model import Ema

# Non-trainable variables that are averages themselves and so are averaged; every other state is copied.
STATISTICS = ("moving_mean", "moving_variance")


def ema_beta(settings: Ema, images_per_step: int, images_seen: Tensor) -> Tensor:
    """beta = 0.5 ^ (images_per_step / min(half_life, ramp * images_seen)), float32; 0 (a copy) while the half-life is 0.

    `images_seen` is counted before this step.
    """
    half_life = tf.constant(settings.half_life_images, tf.float32)
    if settings.ramp is not None:
        half_life = tf.minimum(half_life, settings.ramp * tf.cast(images_seen, tf.float32))
    beta = tf.pow(0.5, images_per_step / tf.maximum(half_life, 1e-8))
    return tf.where(half_life > 0, beta, 0.0)


def update_average(
    average: Mapping[str, tf.Variable], source: Mapping[str, tf.Variable], trainable: set[str], beta: Tensor
) -> None:
    """average <- beta * average + (1 - beta) * source for parameters and statistics; other state is copied.

    The two mappings have the same keys; `trainable` are the keys of parameters.
    """
    for key, variable in source.items():
        target = average[key]
        if key in trainable or key.endswith(STATISTICS):
            target.assign(beta * target + (1.0 - beta) * variable)
        else:
            target.assign(variable)
