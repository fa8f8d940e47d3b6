"""The training step of task `history`: one update of a network whose loss sees its last K outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tensorflow as tf

from gantrain.history_interfaces import WindowLoss
from gantrain.interfaces import Tensor
from gantrain.training.fakes import Batch
from gantrain.training.gan import StepResult
from gantrain.training.history import History, Look
from gantrain.training.nets import Net
from gantrain.training.trials import Trial
from gantrain.training.update import Outcome, Update

# In this order. Means over the examples that count: with `start: warm_up`, those whose window is full.
FACTS = ("loss/model", "norm/window", "grad_norm/model")


class HistoryStep:
    """One step, called as step(batches, number) with one batch: {"real" [b,*shape], "targets" [b,T] float32}.

    `sequence_of` (batch, number) gives the sequence of each example, [b] int64.
    """

    facts = FACTS

    def __init__(
        self, model: Net, update: Update, history: History, loss: WindowLoss,
        sequence_of: Callable[[Batch, Tensor], Tensor], warm_up: bool,
    ) -> None:  # fmt: skip
        self._model = model
        self._update = update
        self._history = history
        self._loss = loss
        self._sequence_of = sequence_of
        self._warm_up = warm_up

    @property
    def suspects(self) -> list[str]:
        """Names behind `StepResult.blamed`."""
        return [*self._update.suspects, "an output of the model"]

    def __call__(self, batches: Sequence[Batch], number: Tensor) -> StepResult:
        """Outputs, windows, loss, update; then the outputs become history, unless something was not finite."""
        (batch,) = batches
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            self._update.watch(tape)
            outputs, look = self.seen(batch, number)
            counts = look.full if self._warm_up else tf.ones_like(look.full)
            loss = mean_over(self._loss(look.z, batch["targets"]), counts)
        sound, any_counts = tf.reduce_all(tf.math.is_finite(outputs)), tf.reduce_any(counts)
        outcome = self._update.run(loss, self._update.gradient(tape, loss), gate=sound & any_counts)
        fine = sound & (outcome.fine | ~any_counts)
        self._history.remember(look.memory, fine)
        return StepResult(self._facts(loss, look, counts, outcome), fine, self._blamed(outcome, sound), None, any_counts)

    def seen(self, batch: Batch, number: Tensor) -> tuple[Tensor, Look]:
        """The outputs of a batch [b,D] float32, and their windows. The history does not move."""
        outputs = tf.cast(self._model.model(batch["real"], training=True), tf.float32)
        return outputs, self._history.look(outputs, self._sequence_of(batch, number))

    def trials(self) -> list[Trial]:
        """The one update, by all examples: windows that a warm-up would wait for count as they are."""

        def model(batch: Batch, number: Tensor) -> tuple[Tensor, list[Tensor | None]]:
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                self._update.watch(tape)
                _, look = self.seen(batch, number)
                loss = tf.reduce_mean(self._loss(look.z, batch["targets"]))
            return loss, self._update.gradient(tape, loss)

        return [Trial(self._update, model, ("model",))]

    def _facts(self, loss: Tensor, look: Look, counts: Tensor, outcome: Outcome) -> Tensor:
        """[3] float32, in the order of FACTS."""
        return tf.stack([loss, mean_over(tf.norm(look.z, axis=1), counts), outcome.norm])

    def _blamed(self, outcome: Outcome, sound: Tensor) -> Tensor:
        last = tf.constant(len(self.suspects) - 1, tf.int64)
        return tf.where(sound, outcome.blamed, last)


def mean_over(values: Tensor, counts: Tensor) -> Tensor:
    """Mean of the `values` [b] float32 that count ([b] bool); 0 where none does."""
    number = tf.reduce_sum(tf.cast(counts, tf.float32))
    return tf.reduce_sum(tf.where(counts, values, 0.0)) / tf.maximum(number, 1.0)
