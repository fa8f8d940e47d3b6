"""What a run costs: parameters, memory, disk, time. And the nets layer by layer."""

from __future__ import annotations

import math
import resource
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from gantrain.deepcheck.findings import finding
from gantrain.deepcheck.subject import Subject, restored
from gantrain.spec.rules import Finding
from gantrain.spec.rules_output import output_parent
from gantrain.training.nets import Net

FORWARDS = {"discriminator": 3, "encoder": 2}  # per step whose activations are held: real, fake, the other net's pass; else 1


@dataclass(frozen=True)
class LayerRow:
    """One call of a layer, for one example."""

    name: str
    kind: str
    shape: tuple[int, ...]
    parameters: int
    activation: str
    size: int  # bytes of the output
    is_normalising: bool = False  # whether it has moving statistics


@dataclass(frozen=True)
class Costs:
    """Of a whole run; sizes in bytes."""

    parameters: dict[str, int]
    activations: int  # of one step, by the layers' outputs
    peak: int  # of this process so far
    checkpoint: int
    step_sec: float
    images_per_sec: float
    run_sec: float


def layer_table(subject: Subject, net: Net) -> list[LayerRow]:
    """Every layer without layers inside, in the order of the calls, with the shape it gives for one example."""
    rows: list[LayerRow] = []
    inputs = (None if item is None else item[:2] for item in subject.inputs[net.role])
    with restored(net.variables), _watched(rows):
        net.model(*inputs, training=True)
    return rows


@contextmanager
def _watched(rows: list[LayerRow]) -> Iterator[None]:
    """Keras has no hooks: its one `__call__` is wrapped for the duration of a forward."""
    original = keras.layers.Layer.__call__

    wrapped = lambda layer, *arguments, **named: _noted(rows, layer, original(layer, *arguments, **named))  # noqa: E731
    keras.layers.Layer.__call__ = wrapped  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        keras.layers.Layer.__call__ = original


def _noted(rows: list[LayerRow], layer: keras.layers.Layer, output: Any) -> Any:
    if not list(layer._flatten_layers(include_self=False)) and tf.is_tensor(output):
        rows.append(_row(layer, output))
    return output


def _row(layer: keras.layers.Layer, output: tf.Tensor) -> LayerRow:
    shape = tuple(int(side) for side in tf.shape(output)[1:])
    activation = getattr(getattr(layer, "activation", None), "__name__", "")
    parameters = sum(int(tf.size(variable.value)) for variable in layer.trainable_variables)
    size = math.prod(shape) * output.dtype.size
    return LayerRow(
        _path(layer),
        type(layer).__name__,
        shape,
        parameters,
        activation if activation != "linear" else "",
        size,
        hasattr(layer, "moving_mean"),
    )


def costs(subject: Subject, tables: dict[str, list[LayerRow]], step_sec: float) -> Costs:
    """From the built nets and one measured step."""
    batch = subject.spec.data.batch_size // subject.spec.training.accumulate
    held = sum(FORWARDS.get(role, 1) * sum(row.size for row in rows) for role, rows in tables.items())
    return Costs(
        parameters={role: sum(int(tf.size(v)) for v in net.trainable.values()) for role, net in subject.nets.items()},
        activations=held * batch,
        peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        checkpoint=sum(int(tf.size(variable)) * variable.dtype.size for variable in subject.state.values()),
        step_sec=step_sec,
        images_per_sec=subject.experiment.images_per_step / max(step_sec, 1e-9),
        run_sec=step_sec * subject.experiment.total_steps,
    )


def disk(subject: Subject, found: Costs) -> list[Finding]:
    """Whether the checkpoints fit; one more than `keep_last` is there while a new one is written."""
    keep, parent = subject.spec.output.keep_last, output_parent(subject.spec)
    needed, free = found.checkpoint * (keep + 1), shutil.disk_usage(parent).free
    if needed <= free:
        return []
    message = (
        f"{keep + 1} checkpoints of {found.checkpoint / 1e6:,.0f} MB need {needed / 1e6:,.0f} MB, but {free / 1e6:,.0f} MB are "
        f"free in {parent}"
    )
    return [finding("disk-space", "output.keep_last", f"{message}; write a smaller keep_last, make room, or take another disk")]


def _path(layer: keras.layers.Layer) -> str:
    """`stage1/conv`: where the layer stands in its net, whose own name is left out."""
    path = str(getattr(layer, "path", None) or layer.name)
    return path.split("/", 1)[1] if "/" in path else path
