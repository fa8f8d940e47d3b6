"""Outputs of a trained network of task `history`, and the windows that its loss would see, for examples in their order."""

from __future__ import annotations

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


def predict(model: keras.Model, form: WindowForm, inputs: np.ndarray, sequences: np.ndarray | None = None) -> Predictions:
    """For `inputs` [n,*shape], in the range the network sees, of `sequences` [n] int64 (None: one). No history from training.

    They go through the network in batches of `form.slots`, as in training: with `unit: batch` that is what Z means.
    """
    sequences = np.zeros(len(inputs), np.int64) if sequences is None else sequences
    step, memory, rows = _step(model, form, inputs.shape[1:]), nothing_seen(form), []
    for start in range(0, len(inputs), form.slots):
        part = slice(start, start + form.slots)
        outputs, found = step(tf.constant(inputs[part], tf.float32), tf.constant(sequences[part]), memory)
        memory = found.memory
        rows.append((outputs.numpy(), found.z.numpy()))
    outputs, z = (np.concatenate(columns) for columns in zip(*rows, strict=True))
    return Predictions(outputs, z)


def _step(model: keras.Model, form: WindowForm, shape: tuple[int, ...]):
    examples, ids = tf.TensorSpec([None, *shape]), tf.TensorSpec([None], tf.int64)
    memory = Memory(*(tf.TensorSpec(value.shape, value.dtype) for value in nothing_seen(form)))

    @tf.function(input_signature=[examples, ids, memory], autograph=False)
    def step(x: Tensor, sequence: Tensor, memory: Memory) -> tuple[Tensor, Look]:
        outputs = tf.cast(model(x, training=False), tf.float32)
        return outputs, look(form, memory, outputs, sequence)

    return step


def as_picture(z: np.ndarray, scale: int = 4) -> np.ndarray:
    """Z [n,K*D] as gray squares of `scale` pixels, uint8 [n*scale,K*D*scale,1]: a row per example, least black, most white."""
    low, high = float(z.min()), float(z.max())
    levels = np.rint(255 * (z - low) / (high - low if high > low else 1.0)).astype(np.uint8)
    return levels.repeat(scale, axis=0).repeat(scale, axis=1)[:, :, None]
