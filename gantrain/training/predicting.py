"""Outputs of a trained network of task `history`, and the windows that its loss would see, for examples in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.training.history import Look, Memory, WindowForm, look, nothing_seen


class Predictions(NamedTuple):
    """`outputs` [n,D] and `z` [n,K*D] float32, newest output first; zeros for outputs before the first of a sequence."""

    outputs: np.ndarray
    z: np.ndarray


class Predictor:
    """A network with its windows; traced at the first call."""

    def __init__(self, model: keras.Model, form: WindowForm, shape: tuple[int, ...]) -> None:
        """`shape` of one example."""
        self._form = form
        self._step = _compiled(model, form, shape)

    def predict(self, inputs: np.ndarray, sequences: np.ndarray | None = None) -> Predictions:
        """For `inputs` [n,*shape], in the range the network sees, of `sequences` [n] int64 (None: one), without history.

        They go through the network in batches of `form.slots`, as in training: with `unit: batch` that is what Z means.
        """
        sequences = np.zeros(len(inputs), np.int64) if sequences is None else sequences
        memory, rows = nothing_seen(self._form), []
        for start in range(0, len(inputs), self._form.slots):
            part = slice(start, start + self._form.slots)
            outputs, found = self._step(tf.constant(inputs[part], tf.float32), tf.constant(sequences[part]), memory)
            memory = found.memory
            rows.append((outputs.numpy(), found.z.numpy()))
        outputs, z = (np.concatenate(columns) for columns in zip(*rows, strict=True))
        return Predictions(outputs, z)


def _compiled(model: keras.Model, form: WindowForm, shape: tuple[int, ...]) -> Callable[..., tuple[Tensor, Look]]:
    examples, ids = tf.TensorSpec([None, *shape]), tf.TensorSpec([None], tf.int64)
    memory = Memory(*(tf.TensorSpec(value.shape, value.dtype) for value in nothing_seen(form)))

    def step(x: Tensor, sequence: Tensor, memory: Memory) -> tuple[Tensor, Look]:
        outputs = tf.cast(model(x, training=False), tf.float32)
        return outputs, look(form, memory, outputs, sequence)

    return tf.function(step, input_signature=[examples, ids, memory], autograph=False)


def as_picture(z: np.ndarray, scale: int = 4) -> np.ndarray:
    """Z [n,K*D] as gray squares of `scale` pixels, uint8 [n*scale,K*D*scale,1]: a row per example, least black, most white."""
    low, high = float(z.min()), float(z.max())
    levels = np.rint(255 * (z - low) / (high - low if high > low else 1.0)).astype(np.uint8)
    return levels.repeat(scale, axis=0).repeat(scale, axis=1)[:, :, None]
