"""Summing penalties: weights, lazy intervals, gradients through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
        lambda x: tf.linalg.matvec(x, tf.convert_to_tensor(weight)),
        examples,
        examples,
        None,
        logits,
        logits,
        tf.zeros([2], tf.int64),
    )


def compiled(settings: list[PenaltySettings]) -> Callable[[int], tuple[float, list[float]]]:
    """step -> value and gradient at the linear critic w = (3, 4), whose squared slope is 25 and its gradient (6, 8)."""
    weight, penalties = tf.Variable([3.0, 4.0]), build_penalties(settings)

    @tf.function
    def compute(step: tf.Tensor):
        with tf.GradientTape() as tape:
            total = sum_penalties(penalties, context_of(weight), step)
        return total, tape.gradient(total, weight, unconnected_gradients=tf.UnconnectedGradients.ZERO)

    def at(step: int) -> tuple[float, list[float]]:
        total, gradient = compute(tf.constant(step, tf.int64))
        assert total.dtype == tf.float32
        return float(total), gradient.numpy().tolist()

    return at


def test_no_penalties_sum_to_zero():
    assert compiled([])(0) == (0.0, [0.0, 0.0])


def test_a_penalty_is_its_weight_times_its_mean():
    assert compiled([SquaredSlope(weight=0.5)])(7) == (12.5, [3.0, 4.0])


def test_penalties_add_up():
    assert compiled([SquaredSlope(weight=0.5), SquaredSlope(weight=2.0)])(1) == (62.5, [15.0, 20.0])


def test_a_lazy_penalty_has_its_interval_as_gain_when_due_and_is_zero_in_between():
    lazy = compiled([SquaredSlope(weight=0.5, every=4)])
    values = [lazy(step) for step in range(9)]
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
    counted = compiled([Counted(every=3)])
    for step in range(6):
        counted(step)
    assert int(calls) == 2
