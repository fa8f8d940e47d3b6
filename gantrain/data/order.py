"""The order of examples: a pure function of (seed, attempt, epoch). Positions are arithmetic, nothing is saved.

Indices are shuffled, not pictures: shuffle -> repeat -> batch. Everything is drawn by philox from explicit keys, so neither
`tf.random.set_seed` nor the number of batches read so far has a part in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from gantrain.errors import UsageError
from gantrain.interfaces import Tensor
from gantrain.spec.arithmetic import batches_per_epoch
from gantrain.spec.model import Data

FOREVER = 2**62  # epochs
PERMUTATION, BUFFER_SLOTS, BUFFER_REST, FLIP = 0xDA01, 0xDA02, 0xDA03, 0xDA04  # streams: what a random number is for

AS_IT_IS = tf.autograph.experimental.do_not_convert  # no `if` of ours asks a tensor; looking for one takes half a second


@dataclass(frozen=True)
class Order:
    """What decides the order: the seed of the experiment, and the attempt (raised after a rollback, for other random numbers)."""

    seed: int
    attempt: int = 0


def key(order: Order, stream: int, epoch: Tensor) -> Tensor:
    """Key [2] int64 of the random numbers of one stream and epoch."""
    return tf.stack([tf.constant(order.seed | order.attempt << 32, tf.int64), tf.bitwise.bitwise_or(epoch, stream << 44)])


def epoch_order(length: int, buffer: int, order: Order, epoch: Tensor) -> Tensor:
    """All indices [N] int64 in the order of one epoch: a uniform permutation for buffer >= N, else that of a shuffle buffer."""
    if buffer >= length:
        return permutation(length, key(order, PERMUTATION, epoch))
    return buffer_order(length, buffer, key(order, BUFFER_SLOTS, epoch), key(order, BUFFER_REST, epoch))


def permutation(length: int, seed: Tensor) -> Tensor:
    """Uniform permutation [N] int64: the order of N random 64-bit numbers (`index_shuffle` knows 256 permutations only)."""
    numbers = tf.random.stateless_uniform([length], seed, None, None, tf.int64, "philox")  # pyright: ignore[reportArgumentType]
    return tf.cast(tf.argsort(numbers, stable=True), tf.int64)


def buffer_order(length: int, buffer: int, slots_key: Tensor, rest_key: Tensor) -> Tensor:
    """Order [N] int64 of a shuffle buffer of K examples, in closed form.

    Step i takes the example in slot r_i ~ U{0..K-1} and puts example K + i there; the last K come out in a random order.
    So step i takes K + j, with j the last step before i that used the same slot, or example r_i if there is none. The law is that
    of `Dataset.shuffle(K)`, which however mixes `tf.random.set_seed` into its seed, and reaches a position only by skipping.
    """
    steps = length - buffer
    slots = tf.random.stateless_uniform([steps], slots_key, 0, buffer, tf.int64, alg="philox")
    by_slot = tf.argsort(slots * steps + tf.range(steps, dtype=tf.int64))  # unique keys: steps of one slot in their order
    slot = tf.gather(slots, by_slot)
    same_slot = tf.concat([[False], slot[1:] == slot[:-1]], 0)[:steps]
    before = tf.roll(tf.cast(by_slot, tf.int64), 1, 0)
    taken = tf.scatter_nd(by_slot[:, None], tf.where(same_slot, buffer + before, slot), [steps])
    last_step = tf.math.unsorted_segment_max(tf.range(steps, dtype=tf.int64), slots, buffer)  # lowest int64 for unused slots
    rest = tf.where(last_step >= 0, buffer + last_step, tf.range(buffer, dtype=tf.int64))
    return tf.concat([taken, tf.gather(rest, permutation(buffer, rest_key))], 0)


def index_batches(length: int, data: Data, order: Order, start_batch: int) -> tf.data.Dataset:
    """Endless batches from number `start_batch` on: {"index": [B] int64} and, with random flips, {"flip": [B] bool}."""
    first_epoch, skipped = position(length, data, start_batch)
    buffer = length if data.shuffle_buffer == "full" else data.shuffle_buffer

    def ordered(epoch: Tensor) -> Tensor:
        return tf.range(length, dtype=tf.int64) if data.sequential else epoch_order(length, buffer, order, epoch)

    @AS_IT_IS
    def draw(epoch: Tensor) -> dict[str, Tensor]:
        start = tf.where(epoch == first_epoch, tf.constant(skipped, tf.int64), tf.constant(0, tf.int64))
        # a copy: a slice would share its buffer, which makes TensorFlow complain on stderr
        index = tf.gather(ordered(epoch), tf.range(start, length, dtype=tf.int64))
        return {"index": index, **_flips(length, data, order, epoch, index)}

    epochs = tf.data.Dataset.range(first_epoch, FOREVER).map(draw, num_parallel_calls=1, deterministic=True).prefetch(1)
    if data.epoch_end == "continue":
        return epochs.rebatch(data.batch_size, drop_remainder=True)
    drop = data.epoch_end == "drop"
    return epochs.flat_map(
        AS_IT_IS(lambda epoch: tf.data.Dataset.from_tensors(epoch).rebatch(data.batch_size, drop_remainder=drop))
    )


def _flips(length: int, data: Data, order: Order, epoch: Tensor, index: Tensor) -> dict[str, Tensor]:
    if not data.augment.horizontal_flip:
        return {}
    coins = tf.random.stateless_uniform([length], key(order, FLIP, epoch), 0, 2, tf.int32, alg="philox")
    return {"flip": tf.gather(coins, index) == 1}  # by example: the same coin wherever in the epoch it comes


def position(length: int, data: Data, batch_number: int) -> tuple[int, int]:
    """Epoch that a batch starts in, and the number of examples of this epoch before it."""
    batches = _batches(length, data)
    if batches is None:
        return divmod(batch_number * data.batch_size, length)
    epoch, batch = divmod(batch_number, batches)
    return epoch, batch * data.batch_size


def epoch_of(batch_number: int, length: int, data: Data) -> float:
    """Epochs finished before a batch, as a number with a fraction: for the metrics line."""
    batches = _batches(length, data)
    return batch_number * data.batch_size / length if batches is None else batch_number / batches


def _batches(length: int, data: Data) -> int | None:
    count = batches_per_epoch(data, length)
    if count == 0:
        raise UsageError(
            f"data.epoch_end is drop and batch_size {data.batch_size} is larger than the data ({length} examples): "
            f"no batch is left; use a batch_size of at most {length}, or epoch_end: continue"
        )
    return count


def batch_axis(data: Data) -> int | None:
    """Static size of the batch axis: None where the last batch of an epoch may be smaller."""
    return None if data.epoch_end == "partial" else data.batch_size


Element = dict[str, Any]  # of a dataset: name -> tensor
