"""Where training stands: the step, and the sums behind the next line of metrics. All of it is checkpointed."""

from __future__ import annotations

import tensorflow as tf

from gantrain.interfaces import Tensor


class Progress:
    """Counters on the device. `sums` [F] float64 and `count` cover the steps since the last line of metrics."""

    def __init__(self, facts: tuple[str, ...], skips: bool = False) -> None:
        """`skips`: a step that was not applied is passed over, not returned to."""
        self.facts = facts
        self._skips = skips
        self.step = _counter("step", 0)
        self.attempt = _counter("attempt", 0)  # part of every random key; grows with each rollback
        self.nonfinite_step = _counter("nonfinite_step", -1)  # first step whose update was not applied, or -1
        self.nonfinite_blamed = _counter("nonfinite_blamed", -1)  # index of what was not finite in it
        self.skipped = _counter("skipped", 0)  # steps of this run that were passed over
        self.count = _counter("count", 0)
        self.sums = tf.Variable(tf.zeros([len(facts)], tf.float64), trainable=False, name="sums")

    @property
    def variables(self) -> dict[str, tf.Variable]:
        """What a checkpoint saves."""
        names = ("step", "attempt", "nonfinite_step", "nonfinite_blamed", "skipped", "count", "sums")
        return {name: getattr(self, name) for name in names}

    def record(self, facts: Tensor, fine: Tensor, blamed: Tensor, measured: Tensor | None = None) -> None:
        """After a step, in the graph: count it and add its facts [F]; a step that was not applied is noted, its facts are not.

        It counts as a step only if such steps are passed over. A step that is not `measured` counts, its facts do not.
        """
        number = self.step.read_value()
        whole = tf.cast(fine, tf.int64)
        self.nonfinite_step.assign(tf.where(fine, self.nonfinite_step, number))
        self.nonfinite_blamed.assign(tf.where(fine, self.nonfinite_blamed, blamed))
        kept = fine if measured is None else fine & measured
        self.sums.assign_add(tf.where(kept, tf.cast(facts, tf.float64), tf.zeros_like(self.sums)))
        self.count.assign_add(tf.cast(kept, tf.int64))
        self.step.assign_add(1 if self._skips else whole)
        if self._skips:
            self.skipped.assign_add(1 - whole)

    def means(self) -> dict[str, float]:
        """Mean of each fact over the steps since the last `reset`, and the steps skipped so far. Reads the device."""
        count = max(int(self.count.numpy()), 1)
        means = {name: float(total) / count for name, total in zip(self.facts, self.sums.numpy(), strict=True)}
        return means | ({"skipped": float(self.skipped.numpy())} if self._skips else {})

    def reset(self) -> None:
        """Start the next interval."""
        self.sums.assign(tf.zeros_like(self.sums))
        self.count.assign(0)


def _counter(name: str, start: int) -> tf.Variable:
    return tf.Variable(tf.constant(start, tf.int64), trainable=False, name=name)
