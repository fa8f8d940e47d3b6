"""What a step reports: losses, logits, gradient norms, and signs of health. All from quantities that are there already."""

from __future__ import annotations

from dataclasses import dataclass

import tensorflow as tf

from gantrain.interfaces import Range, Tensor
from gantrain.training.fakes import Fakes, Portion
from gantrain.training.judging import Judged, replicas, share

# In this order. Losses and logits are means over the global batch (and the step's discriminator updates).
FACTS = (
    "loss/generator",
    "loss/discriminator",
    "logits/real",
    "logits/fake",
    "grad_norm/generator",
    "grad_norm/discriminator",
)
HEALTH_FACTS = (
    "health/real_right",  # share of real logits on the right side
    "health/fake_right",  # share of fake logits on the right side
    "health/diversity",  # spread of the fakes over that of the reals
    "health/saturated",  # share of the fakes' numbers at the ends of the range
)
END = 0.005  # distance to an end of the range, in widths of the range, that counts as saturated


@dataclass(frozen=True)
class Watch:
    """How health is measured: `boundary` between real and fake logits (None: half-way), and the range of the data."""

    boundary: float | None
    data_range: Range | None

    def measure(self, judged: Judged, portion: Portion, fakes: Fakes) -> list[Tensor]:
        """HEALTH_FACTS of one discriminator update, this replica's share of each."""
        real, fake = judged.real.logits, judged.fake.logits
        boundary = summed_over_replicas(0.5 * (share(real) + share(fake))) if self.boundary is None else self.boundary
        spread = _spread(fakes.images) / tf.maximum(_spread(portion.real), 1e-12)
        values = [_share_of(real > boundary), _share_of(fake < boundary), spread, self._saturated(fakes.images)]
        return [share(value) for value in values]

    def _saturated(self, images: Tensor) -> Tensor:
        if self.data_range is None:
            return tf.zeros([])
        low, high = self.data_range
        margin = END * (high - low)
        return _share_of((images < low + margin) | (images > high - margin))


def facts_of(judged: Judged, portion: Portion, fakes: Fakes, watch: Watch | None) -> Tensor:
    """[2 or 6] float32: mean logits of one discriminator update, and its HEALTH_FACTS where they are watched."""
    logits = [share(judged.real.logits), share(judged.fake.logits)]
    return tf.stack(logits if watch is None else [*logits, *watch.measure(judged, portion, fakes)])


def names(watch: Watch | None) -> tuple[str, ...]:
    """Names of all facts of a step."""
    return FACTS if watch is None else FACTS + HEALTH_FACTS


def summed_over_replicas(values: Tensor) -> Tensor:
    """Sum of each replica's share."""
    context = tf.distribute.get_replica_context()
    if context.num_replicas_in_sync == 1:
        return values
    return context.all_reduce(tf.distribute.ReduceOp.SUM, values)


def _share_of(condition: Tensor) -> Tensor:
    return tf.reduce_mean(tf.cast(condition, tf.float32))


def _spread(examples: Tensor) -> Tensor:
    """Root of the mean squared distance between two examples of the batch: sqrt(2 sum of the variances of all numbers)."""
    x = tf.cast(tf.reshape(examples, [tf.shape(examples)[0], -1]), tf.float32)
    mean = summed_over_replicas(tf.reduce_mean(x, axis=0) / replicas())
    return tf.sqrt(2.0 * summed_over_replicas(share(tf.reduce_sum(tf.square(x - mean), axis=1))))
