"""Seeds -> latents -> pictures. Image i depends only on (seed, i), whatever the count or the batch size."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import keras
import numpy as np
import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.keys import stream_key

BLOCK = 64  # latents are drawn in blocks of this size: part of the meaning of (seed, i)


class Sampler:
    """Draws from one generator. Compiled once, for one batch shape."""

    def __init__(
        self,
        generator: keras.Model,
        prior: Callable[..., Tensor],
        latent_size: int,
        num_classes: int | None,
        batch_size: int = BLOCK,
        prior_by_label: bool = False,
    ) -> None:
        self._generator = generator
        self._prior = prior
        self._latent_size = latent_size
        self.num_classes = num_classes  # that come in turn; None: it reads no labels
        self._batch_size = batch_size
        self._by_label = prior_by_label
        self._forward = tf.function(self._call, autograph=False)

    def draw(self, seed: int, count: int, labels: np.ndarray | None = None) -> np.ndarray:
        """Outputs [count,*shape] float32 of the generator for images 0..count-1 of `seed`.

        `labels` [count] int64 asks for classes; without it a conditional generator takes class i modulo the number of classes.
        """
        if labels is None and self.num_classes is not None:
            labels = np.arange(count, dtype=np.int64) % self.num_classes
        return np.concatenate(list(self._batches(seed, count, labels)))[:count]

    def latents(self, seed: int, count: int, labels: np.ndarray | None = None) -> np.ndarray:
        """Latents [count,Z] of images 0..count-1 of `seed`; `labels` [count] are those of a prior by label."""
        key, blocks = stream_key(seed, "sample"), list[np.ndarray]()
        for block in range(-(-count // BLOCK)):
            more = ()
            if self._by_label and labels is not None:
                more = (padded(labels[block * BLOCK : (block + 1) * BLOCK], BLOCK),)
            blocks.append(self._prior(BLOCK, self._latent_size, tf.constant([key, block], tf.int64), *more).numpy())
        return np.concatenate(blocks)[:count]

    def _batches(self, seed: int, count: int, labels: np.ndarray | None) -> Iterator[np.ndarray]:
        latents = self.latents(seed, count, labels)
        for start in range(0, count, self._batch_size):
            part = padded(latents[start : start + self._batch_size], self._batch_size)
            part_labels = None if labels is None else padded(labels[start : start + self._batch_size], self._batch_size)
            yield self._forward(part, part_labels).numpy()

    def _call(self, latents: Tensor, labels: Tensor | None) -> Tensor:
        return self._generator(latents, labels, training=False)


def padded(part: np.ndarray, size: int) -> Tensor:
    """`part` with its last row repeated up to `size`: a full batch every time, so that the arithmetic is the same."""
    missing = size - len(part)
    return tf.constant(np.concatenate([part, np.repeat(part[-1:], missing, axis=0)]) if missing else part)
