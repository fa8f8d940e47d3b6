"""Dynamic loss scale for float16, judged on reduced gradients (Micikevicius et al. 2018, arXiv:1710.03740, section 3.2).

Keras' own judges each replica's gradients before they are reduced: replicas then disagree.
"""

from __future__ import annotations

import tensorflow as tf

from gantrain.interfaces import Tensor

START = 2.0**15
LARGEST = 2.0**24
GROW_AFTER = 2000  # finite updates in a row


class LossScale:
    """Doubles after 2,000 finite updates in a row, halves after one that was not; never below 1."""

    def __init__(self) -> None:
        self.value = tf.Variable(tf.constant(START), trainable=False, name="scale")
        self._good = tf.Variable(tf.constant(0, tf.int64), trainable=False, name="good_updates")
        self.variables = {"scale": self.value, "good_updates": self._good}

    def can_shrink(self) -> Tensor:
        """Whether a smaller scale may cure an overflow."""
        return self.value > 1.0

    def learn(self, applied: Tensor, overflowed: Tensor) -> None:
        """After an update. Neither: nothing changes."""
        good = tf.where(applied, self._good + 1, tf.where(overflowed, tf.zeros_like(self._good), self._good))
        grows = good >= GROW_AFTER
        scale = tf.where(grows, tf.minimum(self.value * 2.0, LARGEST), self.value)
        self.value.assign(tf.where(overflowed, tf.maximum(self.value * 0.5, 1.0), scale))
        self._good.assign(tf.where(grows, tf.zeros_like(good), good))
