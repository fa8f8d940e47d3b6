"""The last K outputs of a network as one vector Z per example, newest first, without a loop over examples.

`unit: sample`: the window slides over single examples, across the borders of batches. With the batch reversed and the history
below it, both newest first, the window of example i is the K rows from row b-1-i on: one gather makes all of them.
`unit: batch`: the window of slot j holds the outputs that slot j gave in the last K batches; a smaller batch of b examples
reads and moves the slots 0 ... b-1, the others keep their history.

Outputs of another sequence, and outputs that are not there yet, are zeros in Z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import tensorflow as tf

from gantrain.errors import UsageError
from gantrain.interfaces import Tensor

NOWHERE = -1  # sequence before the first example


@dataclass(frozen=True)
class WindowForm:
    """`length` K outputs of `size` D; with `unit: batch`, `slots` is the batch size B."""

    length: int
    size: int
    slots: int
    unit: Literal["sample", "batch"] = "sample"
    gradient: Literal["newest", "window"] = "newest"  # newest: older outputs are constants


class Memory(NamedTuple):
    """What the next batch has to know: `outputs` [K,D] or [K,B,D] newest first, how many of them belong to the sequence that
    goes on (`age`, at most K), and which sequence that is; both [] or [B] int64.
    """

    outputs: Tensor
    age: Tensor
    sequence: Tensor


class Look(NamedTuple):
    """The windows of a batch: `z` [b,K*D] float32; `full` [b] bool: all K outputs are there; `memory` as it is after it."""

    z: Tensor
    full: Tensor
    memory: Memory


class History:
    """The outputs seen last, as variables that a checkpoint saves."""

    def __init__(self, form: WindowForm) -> None:
        """Raises UsageError on more than one replica."""
        if tf.distribute.get_strategy().num_replicas_in_sync > 1:
            raise UsageError("task history runs on one device: each output has to know the ones before it")
        self.form = form
        names, start = Memory._fields, nothing_seen(form)
        self._memory = Memory(*(tf.Variable(value, trainable=False, name=name) for name, value in zip(names, start, strict=True)))

    @property
    def variables(self) -> dict[str, tf.Variable]:
        """What a checkpoint saves: outputs, age, sequence."""
        return self._memory._asdict()

    def look(self, outputs: Tensor, sequence: Tensor) -> Look:
        """The windows that end with each of `outputs` [b,D] float32, which belong to `sequence` [b] int64. Nothing moves yet."""
        return look(self.form, Memory(*(variable.read_value() for variable in self._memory)), outputs, sequence)

    def remember(self, memory: Memory, gate: Tensor) -> None:
        """The history after a batch becomes the history, if `gate` holds."""
        for variable, value in zip(self._memory, memory, strict=True):
            variable.assign(tf.where(gate, value, variable))


def nothing_seen(form: WindowForm) -> Memory:
    """The history before the first output."""
    per_slot = [form.slots] if form.unit == "batch" else []
    nowhere = tf.fill(per_slot, tf.constant(NOWHERE, tf.int64))
    return Memory(tf.zeros([form.length, *per_slot, form.size]), tf.zeros(per_slot, tf.int64), nowhere)


def look(form: WindowForm, memory: Memory, outputs: Tensor, sequence: Tensor) -> Look:
    """The windows that end with each of `outputs` [b,D] float32, which belong to `sequence` [b] int64."""
    by_unit = {"sample": _look_at_samples, "batch": _look_at_slots}
    return by_unit[form.unit](form, memory, outputs, sequence)


def _look_at_samples(form: WindowForm, memory: Memory, outputs: Tensor, sequence: Tensor) -> Look:
    count, length = tf.shape(outputs)[0], form.length
    rows = tf.concat([tf.reverse(outputs, [0]), memory.outputs], axis=0)  # [b+K,D], newest first
    part = _parts(memory, sequence, length)  # [b+K]
    places = (count - 1 - tf.range(count))[:, None] + tf.range(length)  # [b,K]
    joined = tf.gather(part, places) == tf.gather(part, places[:, :1])
    past = rows if form.gradient == "window" else tf.stop_gradient(rows)
    z = _joined(form, outputs, tf.gather(past, places[:, 1:]), joined[:, 1:])
    age = tf.reduce_sum(tf.cast(part[:length] == part[0], tf.int64))
    return Look(z, joined[:, -1], Memory(tf.stop_gradient(rows[:length]), age, sequence[-1]))


def _parts(memory: Memory, sequence: Tensor, length: int) -> Tensor:
    """[b+K] int32, newest first: rows of one number are outputs of one sequence; the history's own is 0, what is no output -1."""
    before = tf.concat([memory.sequence[None], sequence[:-1]], axis=0)
    own = tf.cumsum(tf.cast(sequence != before, tf.int32))
    of_history = tf.where(tf.range(length, dtype=tf.int64) < memory.age, 0, -1)
    return tf.concat([tf.reverse(own, [0]), of_history], axis=0)


def _look_at_slots(form: WindowForm, memory: Memory, outputs: Tensor, sequence: Tensor) -> Look:
    count, length = tf.shape(outputs)[0], form.length
    age = tf.where(sequence == memory.sequence[:count], memory.age[:count], 0)  # [b]
    past = memory.outputs[: length - 1, :count]  # [K-1,b,D]
    older = tf.transpose(past, [1, 0, 2])
    z = _joined(form, outputs, older, tf.range(length - 1, dtype=tf.int64) < age[:, None])
    moved = Memory(tf.concat([tf.stop_gradient(outputs)[None], past], axis=0), tf.minimum(age + 1, length), sequence)
    axes = (1, 0, 0)  # of the slots
    kept = (_beyond(value, count, axis) for value, axis in zip(memory, axes, strict=True))
    whole = (tf.concat([new, old], axis) for new, old, axis in zip(moved, kept, axes, strict=True))
    return Look(z, age >= length - 1, Memory(*whole))


def _beyond(value: Tensor, count: Tensor, axis: int) -> Tensor:
    """The slots from `count` on."""
    return value[count:] if axis == 0 else value[:, count:]


def _joined(form: WindowForm, outputs: Tensor, older: Tensor, there: Tensor) -> Tensor:
    """[b,D], [b,K-1,D] and [b,K-1] bool -> [b,K*D], with zeros for what is not there."""
    older = tf.where(there[:, :, None], older, 0.0)
    return tf.concat([outputs, tf.reshape(older, [tf.shape(outputs)[0], (form.length - 1) * form.size])], axis=1)
