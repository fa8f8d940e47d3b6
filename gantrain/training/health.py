"""Signs of a GAN that goes wrong, read from each line of metrics, and one line of advice for each."""

from __future__ import annotations

from collections.abc import Mapping

import tensorflow as tf

INTERVALS = 5  # lines of metrics in a row that must show a sign
# Steps before which nothing is a sign: the fakes of an untrained generator hardly differ, and its discriminator wins at first.
# A number of steps and no share of the run, for the counters are state, which the length of a run must not change.
GRACE_STEPS = 500
WON = 0.99  # share of logits on the right side, of real and of fake ones
UNIFORM = 0.3  # spread of the fakes over that of the reals
VANISHED = 1e-3  # gradient norm of the generator over that of the first line

WON_ADVICE = "the discriminator is right in more than 99% of cases; lower its learning rate, or add a penalty such as r1"
UNIFORM_ADVICE = (
    "the fakes hardly differ from one another (mode collapse); lower the learning rates, or take rpgan with r1 and r2"
)
VANISHED_ADVICE = "the generator's gradient has vanished; take loss: non_saturating or hinge, or weaken the discriminator"


class Health:
    """Counts how many lines in a row show each sign. Its counters are part of the checkpoint.

    `has_boundary`: whether single logits have a right side (relativistic and Wasserstein losses know only differences, whose
    discriminators may well be right all the time).
    """

    def __init__(self, has_boundary: bool) -> None:
        self._has_boundary = has_boundary
        self._first_gradient = tf.Variable(tf.constant(-1.0), trainable=False, name="first_gradient")  # -1: no line yet
        self._streaks = tf.Variable(tf.zeros([3], tf.int64), trainable=False, name="streaks")
        self.variables = {"first_gradient": self._first_gradient, "streaks": self._streaks}

    def judge(self, step: int, means: Mapping[str, float]) -> list[str]:
        """Advice for each sign that this line of metrics, written after `step` steps, is the INTERVALS-th in a row to show.

        Lines within the first GRACE_STEPS steps only tell how large the gradient was at the start.
        """
        gradient = means["grad_norm/generator"]
        if float(self._first_gradient.numpy()) < 0:
            self._first_gradient.assign(gradient)
        if step <= GRACE_STEPS:
            return []
        won = self._has_boundary and min(means["health/real_right"], means["health/fake_right"]) > WON
        uniform = means["health/diversity"] < UNIFORM
        vanished = gradient < VANISHED * float(self._first_gradient.numpy())
        streaks = [count + 1 if sign else 0 for count, sign in zip(self._counts(), (won, uniform, vanished), strict=True)]
        self._streaks.assign(tf.constant(streaks, tf.int64))
        advice = (WON_ADVICE, UNIFORM_ADVICE, VANISHED_ADVICE)
        return [text for count, text in zip(streaks, advice, strict=True) if count == INTERVALS]

    def _counts(self) -> list[int]:
        return [int(count) for count in self._streaks.numpy()]
