"""A history of fakes for the discriminator (Shrivastava et al. 2017, arXiv:1612.07828; per image as in CycleGAN)."""

from __future__ import annotations

import math

import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.spec.model import Replay
from gantrain.training.fakes import Fakes
from gantrain.training.memory import require


class ReplayBuffer:
    """The first `size` fakes are kept and shown as they are; later each is, with a probability, exchanged for a kept one.

    A batch is taken image by image, in its order: an image may get back one that the same batch put in before it. An image that
    is not exchanged is shown and not kept. The last row of `examples` is scratch, always zero.
    """

    def __init__(self, settings: Replay, shape: tuple[int, ...], with_labels: bool) -> None:
        self._settings = settings
        rows = settings.size + 1
        require(4 * rows * math.prod(shape), f"a replay store of {settings.size} examples")
        self.variables = {
            "count": tf.Variable(tf.constant(0, tf.int64), trainable=False, name="count"),
            "examples": tf.Variable(tf.zeros([rows, *shape]), trainable=False, name="examples"),
        }
        if with_labels:
            self.variables["labels"] = tf.Variable(tf.zeros([rows], tf.int64), trainable=False, name="labels")

    def exchange(self, fakes: Fakes, key: Tensor, part: Tensor | int = 0) -> Fakes:
        """What is shown instead of `fakes`. `part`: which micro-batch it is. Fakes that are not finite pass and are not kept."""
        key += tf.stack([tf.constant(0, tf.int64), tf.cast(part, tf.int64) * 2**40])
        fine = tf.reduce_all(tf.math.is_finite(fakes.images))
        size, count = self._settings.size, self.variables["count"].read_value()
        target, swapped = self._targets(tf.shape(fakes.images)[0], key, fine)
        earlier, last = _writers(target, size)
        images = self._swap("examples", fakes.images, (swapped, target, earlier, last))
        labels = fakes.labels
        if labels is not None:
            labels = self._swap("labels", labels, (swapped, target, earlier, last))
        grown = tf.minimum(count + tf.shape(fakes.images, out_type=tf.int64)[0], size)
        self.variables["count"].assign(tf.where(fine, grown, count))
        return Fakes(images, labels)

    def _targets(self, batch: Tensor, key: Tensor, fine: Tensor) -> tuple[Tensor, Tensor]:
        """The row each image is written to [B] int32 (`size`: none), and whether it is exchanged for what was there [B]."""
        size = self._settings.size
        place = tf.cast(self.variables["count"].read_value(), tf.int32) + tf.range(batch)
        draws = tf.random.stateless_uniform([2, batch], key, alg="philox")
        chosen = tf.minimum(tf.cast(draws[0] * size, tf.int32), size - 1)
        filling = place < size
        swapped = ~filling & (draws[1] < self._settings.probability) & fine
        target = tf.where(filling & fine, place, tf.where(swapped, chosen, size))
        return target, swapped

    def _swap(self, name: str, new: Tensor, plan: tuple[Tensor, Tensor, Tensor, Tensor]) -> Tensor:
        swapped, target, earlier, last = plan
        history = self.variables[name]
        kept = tf.gather(history, target)
        in_batch = tf.gather(new, tf.maximum(earlier, 0))
        old = tf.where(_beside(earlier >= 0, new), in_batch, kept)
        rows = tf.where(last, target, self._settings.size)
        with tf.control_dependencies([old]):
            written = tf.where(_beside(last, new), tf.stop_gradient(new), tf.zeros_like(new))
            history.scatter_update(tf.IndexedSlices(written, rows))
        return tf.where(_beside(swapped, new), old, new)


def _writers(target: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """For each image: the last before it in the batch that wrote to the same row (or -1); whether it is its row's last."""
    index = tf.range(tf.shape(target)[0])
    same = (target[:, tf.newaxis] == target[tf.newaxis, :]) & (target < size)[:, tf.newaxis]
    before, after = index[tf.newaxis, :] < index[:, tf.newaxis], index[tf.newaxis, :] > index[:, tf.newaxis]
    earlier = tf.reduce_max(tf.where(same & before, index[tf.newaxis, :], -1), axis=1)
    return earlier, (target < size) & ~tf.reduce_any(same & after, axis=1)


def _beside(condition: Tensor, values: Tensor) -> Tensor:
    """[B] -> [B,1,...,1]."""
    return tf.reshape(condition, [-1, *[1] * (len(values.shape) - 1)])
