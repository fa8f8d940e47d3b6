"""Random draws of a training step: latents and fake labels, keyed by (seed, attempt, stream, step).

Draws are made for the global batch and sliced per replica, so that 1 and N replicas see the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.keys import stream_key


class Draws:
    """Latents [b,Z] and labels [b] of one replica for a stream of a step."""

    def __init__(self, prior: Callable[..., Tensor], latent_size: int, seed: int, attempt: int) -> None:
        self._prior = prior
        self._size = latent_size
        self._seed = seed
        self.attempt = attempt  # part of every key; read while a step is traced

    def latents(self, stream: str, step: Tensor, count: Tensor) -> Tensor:
        """[count,Z] float32; `count` is this replica's batch."""
        drawn = self._prior(self._global(count), self._size, self.key(f"latents/{stream}", step))
        return tf.ensure_shape(self._mine(drawn, count), [None, self._size])

    def latents_of(self, stream: str, step: Tensor, labels: Tensor) -> Tensor:
        """[b,Z] float32 of a prior by label, for this replica's `labels` [b]; those of other replicas are not known here."""
        count = tf.shape(labels)[0]
        everyone = tf.tile(labels, [tf.distribute.get_strategy().num_replicas_in_sync])
        drawn = self._prior(self._global(count), self._size, self.key(f"latents/{stream}", step), everyone)
        return tf.ensure_shape(self._mine(drawn, count), [None, self._size])

    def noise(self, stream: str, step: Tensor, count: Tensor) -> Tensor:
        """[count,Z] float32, independent N(0, 1)."""
        drawn = tf.random.stateless_normal([self._global(count), self._size], self.key(f"noise/{stream}", step), alg="philox")
        return tf.ensure_shape(self._mine(drawn, count), [None, self._size])

    def labels(self, stream: str, step: Tensor, count: Tensor, histogram: Sequence[float] | None) -> Tensor | None:
        """[count] int64 by the class histogram (shares that sum to 1); None without labels."""
        if histogram is None:
            return None
        uniform = tf.random.stateless_uniform([self._global(count)], self.key(f"labels/{stream}", step), alg="philox")
        edges = tf.cumsum(tf.constant(histogram, tf.float32))[:-1]
        return self._mine(tf.searchsorted(edges, uniform, side="right", out_type=tf.int64), count)

    def key(self, stream: str, step: Tensor) -> Tensor:
        """[2] int64: the stateless seed of a stream at a step."""
        return tf.stack([tf.constant(stream_key(self._seed, stream, self.attempt), tf.int64), tf.cast(step, tf.int64)])

    @staticmethod
    def _global(count: Tensor) -> Tensor:
        return count * tf.distribute.get_strategy().num_replicas_in_sync

    @staticmethod
    def _mine(drawn: Tensor, count: Tensor) -> Tensor:
        context = tf.distribute.get_replica_context()
        if context.num_replicas_in_sync == 1:
            return drawn
        start = context.replica_id_in_sync_group * count
        return drawn[start : start + count]
