"""Penalties on the discriminator's gradient by its input: functions of a PenaltyContext -> [B] float32.

In the equations g(x) is the gradient of the logit by the example x, |g| its Euclidean norm over all numbers of the example.
Everything is float32; the sum of logits is scaled before it is differentiated and the gradient scaled back (float16 loses small
numbers in between). Where the gradient is exactly zero, the norm's own derivative is taken as zero instead of 0/0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import tensorflow as tf

from gantrain.errors import UsageError
from gantrain.interfaces import PenaltyContext, Tensor
from gantrain.objectives import catalog

Penalty: TypeAlias = Callable[[PenaltyContext], Tensor]


def build_r1(_: catalog.R1) -> Penalty:
    """Builder: |g(real)|^2 / 2. Mescheder et al. 2018 (arXiv:1801.04406), equation 9, with gamma the weight."""

    def r1(context: PenaltyContext) -> Tensor:
        return 0.5 * _squared_norm((context.real_slope or partial(slope, context.critic, context.real, context.scale))())

    return r1


def build_r2(_: catalog.R2) -> Penalty:
    """Builder: |g(fake)|^2 / 2. Mescheder et al. 2018 (arXiv:1801.04406), equation 10, with gamma the weight."""

    def r2(context: PenaltyContext) -> Tensor:
        critic = context.fake_critic or context.critic
        return 0.5 * _squared_norm((context.fake_slope or partial(slope, critic, context.fake, context.scale))())

    return r2


def build_gradient_penalty(settings: catalog.GradientPenalty) -> Penalty:
    """Builder: (|g(x)| - target)^2 at x = e real + (1 - e) fake, e uniform in [0, 1) per example.

    Gulrajani et al. 2017 (arXiv:1704.00028), algorithm 1. With labels, x has those of the real example.
    One-sided (section 4 there): max(0, |g(x)| - target)^2.
    """

    def gradient_penalty(context: PenaltyContext) -> Tensor:
        share = per_example_uniform(context, [1] * (len(context.real.shape) - 1))
        x = share * context.real + (1.0 - share) * context.fake
        excess = norm(slope(context.critic, x, context.scale)) - settings.target
        return tf.square(tf.nn.relu(excess) if settings.one_sided else excess)

    return gradient_penalty


def build_dragan(settings: catalog.Dragan) -> Penalty:
    """Builder: (|g(x)| - target)^2 at x = real + d s u, u uniform in [0, 1) per number, s the deviation of the whole batch.

    Kodali et al. 2017 (arXiv:1705.07215), as in the authors' code, with d = 0.5.
    """

    def dragan(context: PenaltyContext) -> Tensor:
        real = tf.cast(context.real, tf.float32)
        x = real + settings.disturbance * tf.math.reduce_std(real) * per_example_uniform(context, list(real.shape[1:]))
        return tf.square(norm(slope(context.critic, x, context.scale)) - settings.target)

    return dragan


def slope(critic: Callable[[Tensor], Tensor], x: Tensor, scale: Tensor = 1.0) -> Tensor:
    """Gradient of each logit by its example, [B,*shape] float32, by a forward of its own. Raises UsageError as `slope_of`."""
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        logits = tf.cast(critic(x), tf.float32)
    return slope_of(tape, logits, x, scale)


def slope_of(tape: tf.GradientTape, logits: Tensor, x: Tensor, scale: Tensor = 1.0) -> Tensor:
    """Gradient of each of the float32 `logits` [B] by its example in `x`, which the tape watched: [B,*shape] float32.

    Raises UsageError for logits that do not depend on x in a way TensorFlow can differentiate.
    """
    gradient = tape.gradient(logits, x, output_gradients=scale * tf.ones_like(logits))
    if gradient is None:
        raise UsageError("the discriminator's logits have no gradient by its input; a penalty on the slope needs one")
    return tf.cast(gradient, tf.float32) / scale


def norm(gradient: Tensor) -> Tensor:
    """|g| per example, [B]; its derivative at g = 0 is 0."""
    squared = _squared_norm(gradient)
    positive = squared > 0.0
    return tf.where(positive, tf.sqrt(tf.where(positive, squared, 1.0)), 0.0)


def _squared_norm(gradient: Tensor) -> Tensor:
    return tf.reduce_sum(tf.square(gradient), axis=list(range(1, len(gradient.shape))))


def per_example_uniform(context: PenaltyContext, shape: list[int], stream: int = 0) -> Tensor:
    """[B,*shape], uniform in [0, 1): drawn for all micro-batches of all replicas, of which this one's rows are taken.

    `stream` tells apart several draws of one penalty.
    """
    count = tf.shape(context.real)[0]
    key = context.key + tf.constant([0, stream << 40], tf.int64)
    drawn = tf.random.stateless_uniform(tf.stack([count * context.parts, *shape]), key, alg="philox")
    start = count * tf.cast(context.part, tf.int32)
    return tf.ensure_shape(drawn[start : start + count], [None, *shape])
