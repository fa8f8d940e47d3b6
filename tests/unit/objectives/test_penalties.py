"""Summing penalties: weights, lazy intervals, gradients through them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.interfaces import DiscriminatorOutput, PenaltyContext, PenaltySettings
from gantrain.objectives.penalties import build_penalties, sum_penalties


class SquaredSlope(PenaltySettings):
    """Squared slope of the critic at the real examples."""

    def build(self):
        def penalty(context: PenaltyContext):
            with tf.GradientTape() as tape:
                tape.watch(context.real)
                total = tf.reduce_sum(context.critic(context.real))
            return tf.reduce_sum(tf.square(tape.gradient(total, context.real)), axis=-1)

        return penalty


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    registry.register("penalty", "squared_slope")(SquaredSlope)
    yield
    registry.forget(SquaredSlope.__module__)


def context_of(weight: tf.Variable) -> PenaltyContext:
    examples, logits = tf.ones([5, 2]), DiscriminatorOutput(tf.zeros([5]))
    return PenaltyContext(
        lambda x: tf.linalg.matvec(x, tf.convert_to_tensor(weight)), examples, examples, None, logits, logits, tf.zeros([2], tf.int64)
    )


def value_and_gradient(settings: list[PenaltySettings], step: int) -> tuple[float, list[float]]:
    """At the linear critic w = (3, 4), whose squared slope is 25 and its gradient (6, 8)."""
    weight, penalties = tf.Variable([3.0, 4.0]), build_penalties(settings)

    @tf.function
    def compute(step: tf.Tensor):
        with tf.GradientTape() as tape:
            total = sum_penalties(penalties, context_of(weight), step)
        return total, tape.gradient(total, weight, unconnected_gradients=tf.UnconnectedGradients.ZERO)

    total, gradient = compute(tf.constant(step, tf.int64))
    assert total.dtype == tf.float32
    return float(total), gradient.numpy().tolist()


def test_no_penalties_sum_to_zero():
    assert value_and_gradient([], 0) == (0.0, [0.0, 0.0])


def test_a_penalty_is_its_weight_times_its_mean():
    assert value_and_gradient([SquaredSlope(weight=0.5)], 7) == (12.5, [3.0, 4.0])


def test_penalties_add_up():
    assert value_and_gradient([SquaredSlope(weight=0.5), SquaredSlope(weight=2.0)], 1) == (62.5, [15.0, 20.0])


def test_a_lazy_penalty_has_its_interval_as_gain_when_due_and_is_zero_in_between():
    lazy = [SquaredSlope(weight=0.5, every=4)]
    values = [value_and_gradient(lazy, step) for step in range(9)]
    assert values[0] == values[4] == values[8] == (50.0, [12.0, 16.0])
    assert all(values[step] == (0.0, [0.0, 0.0]) for step in (1, 2, 3, 5, 6, 7))


def test_a_lazy_penalty_is_not_computed_between_its_steps():
    calls = tf.Variable(0)

    class Counted(PenaltySettings):
        """Counts its calls."""

        def build(self):
            def penalty(context: PenaltyContext):
                with tf.control_dependencies([calls.assign_add(1)]):
                    return tf.zeros([5])

            return penalty

    registry.register("penalty", "counted")(Counted)
    for step in range(6):
        value_and_gradient([Counted(every=3)], step)
    assert int(calls) == 2
