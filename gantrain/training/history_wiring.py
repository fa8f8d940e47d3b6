"""Whether the network and the loss of task `history` give what they must. Asked once, when they are built."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from gantrain import registry
from gantrain.errors import UsageError, in_words
from gantrain.spec.history import HistorySpec
from gantrain.training.nets import Net

COUNT = 3  # examples of the trial


def check_history(spec: HistorySpec, model: Net, shape: tuple[int, ...], target_size: int) -> None:
    """Try both on zeros. Raises UsageError that says what came out and what must."""
    _check_model(spec, model, shape)
    if not model.trainable:
        raise UsageError("the model has no trainable variable when it is built: call it once in its builder")
    row = registry.row_of(spec.objective.loss)
    if row.is_plugin:
        with registry.blaming(row):
            _check_loss(spec, row.placed(), target_size)


def _check_model(spec: HistorySpec, model: Net, shape: tuple[int, ...]) -> None:
    row = registry.row_of(spec.model)
    try:
        outputs = model.model(tf.zeros([COUNT, *shape]), training=False)
    except Exception as error:  # whatever a plugin's net raises, on inputs of the promised form, is its author's to mend
        raise UsageError(f"{row.placed()} fails on inputs {[COUNT, *shape]}: {in_words(error)}") from error
    _require_form(row.placed(), outputs, [COUNT, spec.window.size], "[B,D]")


def _check_loss(spec: HistorySpec, who: str, target_size: int) -> None:
    z, target = tf.zeros([COUNT, spec.window.length * spec.window.size]), tf.zeros([COUNT, target_size])
    loss = registry.build(spec.objective.loss, spec.window)
    with tf.GradientTape() as tape:
        tape.watch(z)
        value = loss(z, target)
    _require_form(who, value, [COUNT], "[B], one loss per example")
    gradient = tape.gradient(value, z)
    if gradient is None:
        raise UsageError(
            f"{who} gives no gradient to Z: a stop_gradient, a cast to integers, or NumPy inside; correct the plugin"
        )
    if not bool(tf.reduce_all(tf.math.is_finite(gradient))):
        raise UsageError(
            f"{who} has a gradient that is not finite at Z = 0, where windows start (as that of tf.norm has); correct it"
        )


def _require_form(who: str, found: Any, shape: list[int], meaning: str) -> None:
    form = f"{list(getattr(found, 'shape', ()))} {getattr(getattr(found, 'dtype', None), 'name', type(found).__name__)}"
    if form != f"{shape} float32":
        raise UsageError(f"{who} gives {form} for {COUNT} examples; it must give {shape} float32 ({meaning})")
