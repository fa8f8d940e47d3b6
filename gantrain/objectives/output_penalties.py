"""Penalties on the discriminator's outputs: functions of a PenaltyContext -> [B] float32."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from gantrain.errors import UsageError
from gantrain.interfaces import PenaltyContext, Tensor
from gantrain.objectives import catalog
from gantrain.objectives.slope_penalties import per_example_uniform


class LeCam:
    """max(0, r - a_f)^2 + max(0, a_r - f)^2 with moving averages a of the logits r and f.

    Tseng et al. 2021 (arXiv:2104.03310), equation 5, in the authors' rectified form. The averages start at zero and take this
    batch in before they are used; they are states, not functions of the weights.
    """

    def __init__(self, settings: catalog.LeCam) -> None:
        self._decay = settings.decay
        self.variables = {
            name: tf.Variable(tf.constant(0.0), trainable=False, name=name) for name in ("average_real", "average_fake")
        }

    def __call__(self, context: PenaltyContext) -> Tensor:
        """[B]."""
        real, fake = (tf.cast(output.logits, tf.float32) for output in (context.real_output, context.fake_output))
        average_real, average_fake = self._moved("average_real", real), self._moved("average_fake", fake)
        return tf.square(tf.nn.relu(real - average_fake)) + tf.square(tf.nn.relu(average_real - fake))

    def _moved(self, name: str, logits: Tensor) -> Tensor:
        mean = tf.stop_gradient(tf.reduce_mean(logits))
        return self.variables[name].assign(self._decay * self.variables[name] + (1.0 - self._decay) * mean, read_value=True)


def build_lecam(settings: catalog.LeCam) -> LeCam:
    """Builder."""
    return LeCam(settings)


def build_consistency(settings: catalog.Consistency) -> Callable[[PenaltyContext], Tensor]:
    """Builder: (D(x) - D(T(x)))^2 at real pictures x, T mirrors and shifts. Zhang et al. 2020 (arXiv:1910.12027), equation 1."""

    def consistency(context: PenaltyContext) -> Tensor:
        reason = settings.applicable(tuple(context.real.shape[1:]))
        if reason is not None:
            raise UsageError(f"consistency: {reason}")
        moved = _shifted(_mirrored(context.real, settings.horizontal_flip, context), settings.shift, context)
        change = tf.cast(context.real_output.logits, tf.float32) - tf.cast(context.critic(moved), tf.float32)
        return tf.square(change)

    return consistency


def _mirrored(x: Tensor, wanted: bool, context: PenaltyContext) -> Tensor:
    if not wanted:
        return x
    return tf.where(per_example_uniform(context, [1, 1, 1]) < 0.5, tf.reverse(x, [2]), x)


def _shifted(x: Tensor, limit: int, context: PenaltyContext) -> Tensor:
    """Each picture moved by its own whole number of pixels, edges mirrored; two matrices of zeros and ones per picture."""
    if limit == 0:
        return x
    steps = tf.cast(per_example_uniform(context, [2], stream=1) * (2 * limit + 1), tf.int32) - limit
    rows, columns = (_moves(size, step) for size, step in zip(x.shape[1:3], tf.unstack(steps, axis=1), strict=True))
    return tf.einsum("bph,bhwc,bqw->bpqc", tf.cast(rows, x.dtype), x, tf.cast(columns, x.dtype))


def _moves(size: int, step: Tensor) -> Tensor:
    """[B,size,size]: row p picks place p - step, reflected at the ends."""
    place = tf.abs(tf.range(size)[tf.newaxis] - step[:, tf.newaxis])
    place = (size - 1) - tf.abs((size - 1) - place)
    return tf.one_hot(place, size)
