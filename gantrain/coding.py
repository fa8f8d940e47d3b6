"""Examples -> codes -> examples, in padded batches of a fixed size, so that row i depends on example i only."""

from __future__ import annotations

from collections.abc import Iterator

import keras
import numpy as np
import tensorflow as tf

from gantrain.aae_interfaces import EncoderOutput
from gantrain.interfaces import Tensor
from gantrain.keys import stream_key
from gantrain.sampling import BLOCK, padded


class Coder:
    """An encoder and its decoder. Each is compiled once, for one batch shape."""

    def __init__(self, encoder: keras.Model, decoder: keras.Model, batch_size: int = BLOCK) -> None:
        self._batch_size = batch_size
        self._encoder, self._decoder = encoder, decoder
        self._encode = tf.function(self._encoded, autograph=False)
        self._decode = tf.function(self._decoded, autograph=False)

    def encode(self, examples: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Examples [n,*shape] as the networks see them -> means [n,Z] and, of a Gaussian law, standard deviations [n,Z]."""
        found = [self._encode(part) for part in self._batches(examples)]
        means = np.concatenate([output.mean.numpy() for output in found])[: len(examples)]
        if found[0].log_std is None:
            return means, None
        return means, np.exp(np.concatenate([output.log_std.numpy() for output in found]))[: len(examples)]

    def draw_codes(self, examples: np.ndarray, seed: int) -> np.ndarray:
        """Codes [n,Z] by the encoder's law; of a deterministic one, its means. Row i depends on (seed, i) and example i."""
        means, stds = self.encode(examples)
        if stds is None:
            return means
        key = tf.constant([stream_key(seed, "codes"), 0], tf.int64)
        return means + stds * tf.random.stateless_normal(means.shape, key, alg="philox").numpy()

    def decode(self, codes: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
        """Codes [n,Z] (and labels [n]) -> examples [n,*shape] as the networks give them."""
        label_parts = [None] * len(codes) if labels is None else list(self._batches(labels))
        parts = [self._decode(part, label).numpy() for part, label in zip(self._batches(codes), label_parts, strict=False)]
        return np.concatenate(parts)[: len(codes)]

    def rebuild(self, examples: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
        """Decoded means of examples [n,*shape]."""
        return self.decode(self.encode(examples)[0], labels)

    def _batches(self, rows: np.ndarray) -> Iterator[Tensor]:
        for start in range(0, len(rows), self._batch_size):
            yield padded(rows[start : start + self._batch_size], self._batch_size)

    def _encoded(self, examples: Tensor) -> EncoderOutput:
        return self._encoder(examples, training=False)

    def _decoded(self, codes: Tensor, labels: Tensor | None) -> Tensor:
        return self._decoder(codes, labels, training=False)
