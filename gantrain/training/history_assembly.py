"""From a spec of task `history` and its network to the step and the engine, and what of it has state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tensorflow as tf

from gantrain import registry
from gantrain.data.pairing import Pairing
from gantrain.interfaces import Tensor
from gantrain.spec.arithmetic import batches_per_epoch
from gantrain.spec.history import HistorySpec
from gantrain.state import prefixed
from gantrain.training.assembly import rate_of, slots_of
from gantrain.training.engine import Engine, Skipping
from gantrain.training.fakes import Batch
from gantrain.training.history import History, WindowForm
from gantrain.training.history_step import FACTS, HistoryStep
from gantrain.training.loss_scale import LossScale
from gantrain.training.nets import Net
from gantrain.training.progress import Progress
from gantrain.training.update import Update


def window_form(spec: HistorySpec) -> WindowForm:
    """What Z looks like."""
    window = spec.history
    return WindowForm(spec.window.length, spec.window.size, spec.data.batch_size, window.unit, window.gradient)


@dataclass(frozen=True)
class HistoryParts:
    """What a step is made of besides the network, and what of it has state."""

    update: Update
    progress: Progress
    history: History


def make_history_parts(spec: HistorySpec, model: Net) -> HistoryParts:
    """Optimizer and history of a spec. Raises UsageError."""
    settings, training = spec.optimizers.model, spec.training
    progress = Progress(FACTS, skips=training.on_nonfinite == "skip")
    update = Update(
        model.role,
        model.trainable,
        registry.build(settings, model.trainable),
        rate_of(settings.learning_rate, spec.data.batch_size, progress),
        training.clip_norm,
        loss_scale=LossScale() if training.precision == "mixed_float16" else None,
    )
    return HistoryParts(update, progress, History(window_form(spec)))


def make_history_engine(spec: HistorySpec, model: Net, parts: HistoryParts, pairing: Pairing) -> Engine:
    """The engine of the step."""
    loss = registry.build(spec.objective.loss, spec.window)
    sequence_of = _sequences(spec, pairing)
    step = HistoryStep(model, parts.update, parts.history, loss, sequence_of, spec.history.start == "warm_up")
    skipping = Skipping(spec.training.skip_budget, model.statistics) if spec.training.on_nonfinite == "skip" else None
    return Engine(step, parts.progress, lambda _: None, spec.batches_per_step, spec.training.jit, skipping)


def history_state(model: Net, parts: HistoryParts) -> dict[str, tf.Variable]:
    """What a checkpoint saves: every variable by its key."""
    return {
        **prefixed("progress", parts.progress.variables),
        **prefixed("history", parts.history.variables),
        **model.variables,
        **slots_of(parts.update),
    }


def _sequences(spec: HistorySpec, pairing: Pairing) -> Callable[[Batch, Tensor], Tensor]:
    """(batch, number of the step) -> [b] int64: equal for examples whose outputs may be in one window."""
    count = 1 if pairing.sequences is None else int(pairing.sequences.max()) + 1

    def sequence_of(batch: Batch, number: Tensor) -> Tensor:
        size = tf.shape(batch["real"])[0]
        own = batch.get("sequence", tf.zeros([size], tf.int64))
        if spec.history.reset == "never":
            return own
        return own + count * epochs_of(spec, len(pairing.targets), number, size)

    return sequence_of


def epochs_of(spec: HistorySpec, length: int, number: Tensor, size: Tensor) -> Tensor:
    """[b] int64: the epoch of each of the `size` examples of batch `number`; the same arithmetic as that of the data."""
    batches = batches_per_epoch(spec.data, length)
    if batches is not None:
        return tf.fill([size], number // batches)
    return (number * spec.data.batch_size + tf.range(tf.cast(size, tf.int64))) // length
