"""Whether the network and the loss of task `history` give what they must. Asked once, when they are built."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from gantrain import registry
from gantrain.errors import UsageError, WiringError
from gantrain.spec.history import HistorySpec
from gantrain.training.nets import Net
from gantrain.training.wiring import COUNT, expect, require_parameters, tried


def check_history(spec: HistorySpec, model: Net, shape: tuple[int, ...], target_size: int) -> None:
    """Try both on zeros. Raises UsageError that says what came out and what must."""
    check_model(spec, model, shape)
    check_window_loss(spec, target_size)


def check_model(spec: HistorySpec, model: Net, shape: tuple[int, ...]) -> None:
    """Inputs in, outputs out. Raises WiringError."""
    expect("model", tried(model, tf.zeros([COUNT, *shape])), (COUNT, spec.window.size))
    require_parameters([model])


def check_window_loss(spec: HistorySpec, target_size: int) -> None:
    """Try a plugin's loss. Built-in ones are not tried: contract tests do that. Raises UsageError."""
    row = registry.row_of(spec.objective.loss)
    if row.is_plugin:
        with registry.blaming(row):
            _check_loss(spec, row.placed(), target_size)


def _check_loss(spec: HistorySpec, who: str, target_size: int) -> None:
    z, target = tf.zeros([COUNT, spec.window.length * spec.window.size]), tf.zeros([COUNT, target_size])
    loss = registry.build(spec.objective.loss, spec.window)
    with tf.GradientTape() as tape:
        tape.watch(z)
        value = loss(z, target)
    _require_form(who, value, [COUNT], "[B], one loss per example")
    gradient = tape.gradient(value, z)
    if gradient is None:
        message = f"{who} gives no gradient to Z: a stop_gradient, a cast to integers, or NumPy inside; correct the plugin"
        raise WiringError("gradient-none", "objective.loss", message)
    if not all(bool(tf.reduce_all(tf.math.is_finite(item))) for item in (value, gradient)):
        message = f"{who} or its gradient is NaN or infinite at Z = 0, where windows start (as that of tf.norm is); correct it"
        raise WiringError("gradient-nonfinite", "objective.loss", message)


def _require_form(who: str, found: Any, shape: list[int], meaning: str) -> None:
    form = f"{list(getattr(found, 'shape', ()))} {getattr(getattr(found, 'dtype', None), 'name', type(found).__name__)}"
    if form != f"{shape} float32":
        raise UsageError(f"{who} gives {form} for {COUNT} examples; it must give {shape} float32 ({meaning})")
