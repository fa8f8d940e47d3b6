"""The training step of task `gan`: discriminator updates, then one generator update.

Written in replica context: a batch here is this replica's share, and every loss is divided by the number of replicas, so that
summing over them gives the mean over the global batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.spec.model import Training
from gantrain.training import facts
from gantrain.training.accumulation import mean_over_parts
from gantrain.training.fakes import Batch, FakeMaker, Fakes, Portion
from gantrain.training.judging import Judge, Judged
from gantrain.training.replay import ReplayBuffer
from gantrain.training.trials import Trial
from gantrain.training.update import Outcome, Update


class StepResult(NamedTuple):
    """`facts` [len(step.facts)] float32; `fine`: all was finite; `blamed`: index into `suspects` or -1; `fake`: the last fakes.

    `fake` is None where the batch is cut into micro-batches. `measured`: the facts say something; None: they always do.
    """

    facts: Tensor
    fine: Tensor
    blamed: Tensor
    fake: Tensor | None
    measured: Tensor | None = None


@dataclass(frozen=True)
class Done:
    """A discriminator update that was run: its loss, its facts (logits, health) and its outcome."""

    loss: Tensor
    facts: Tensor
    outcome: Outcome


@dataclass(frozen=True)
class _GeneratorPass:
    """What the generator's update needs: its loss and the gradient of it."""

    loss: Tensor
    gradients: list[Tensor | None]


class GanStep:
    """One step, called as step(batches, number) with one batch per discriminator update."""

    def __init__(
        self, maker: FakeMaker, judge: Judge, updates: tuple[Update, Update], settings: Training,
        watch: facts.Watch | None, replay: ReplayBuffer | None,
    ) -> None:  # fmt: skip
        self.maker = maker
        self._judge = judge
        self._generator_update, self._discriminator_update = updates
        self._settings = settings
        self._watch = watch
        self._replay = replay
        self.facts = facts.names(watch)

    @property
    def suspects(self) -> list[str]:
        """Names behind `StepResult.blamed`."""
        return [*self._discriminator_update.suspects, *self._generator_update.suspects]

    def __call__(self, batches: Sequence[Batch], number: Tensor) -> StepResult:
        """Discriminator updates on all batches but the last, then the last one together with the generator's."""
        portions = [Portion(batch) for batch in batches]
        done: list[Done] = []
        for index, portion in enumerate(portions[:-1]):
            done.append(self._train_discriminator(portion, number, f"discriminator{index}", done))
        if self._settings.accumulate > 1:
            return self._accumulated(portions[-1], number, done)
        last = self._simultaneous if self._settings.updates == "simultaneous" else self._alternating
        return last(portions[-1], number, done)

    def trials(self) -> list[Trial]:
        """Each update apart from the other, in the order of the step."""

        def discriminator(batch: Batch, number: Tensor) -> tuple[Tensor, list[Tensor | None]]:
            portion = Portion(batch)
            judged = self._judge.judge(portion, self._fakes_for_discriminator(portion, number, "generator"), number)
            return judged.loss, judged.gradients

        def generator(batch: Batch, number: Tensor) -> tuple[Tensor, list[Tensor | None]]:
            portion = Portion(batch)
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                self._generator_update.watch(tape)
                loss = self._judge.generator_loss(portion, self._own_fakes(portion, number))
            return loss, self._generator_update.gradient(tape, loss)

        settings = self._settings
        moves = ("generator",) if not self._shared or settings.generator_mode == "train" else ()
        return [
            Trial(self._discriminator_update, discriminator, ("discriminator",), once=False),
            Trial(self._generator_update, generator, moves, once=settings.accumulate == 1),
        ]

    # ---------------------------------------------------------------- the orders of the last two updates

    def _alternating(self, portion: Portion, number: Tensor, done: list[Done]) -> StepResult:
        """The generator's loss goes through the already updated discriminator."""
        fresh = self._fresh_fakes(portion, number)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            self._generator_update.watch(tape)
            own = self._own_fakes(portion, number)
            with tape.stop_recording():
                shown = self._shown(fresh or own, number, "replay")
                done = [*done, self._update_discriminator(self._judge.judge(portion, shown, number), portion, shown, done)]
            loss = self._judge.generator_loss(portion, own)
        return self._finish(_GeneratorPass(loss, self._generator_update.gradient(tape, loss)), done, own.images)

    def _simultaneous(self, portion: Portion, number: Tensor, done: list[Done]) -> StepResult:
        """Both gradients at the same weights; with shared fakes one discriminator forward on them serves both losses."""
        fresh = self._fresh_fakes(portion, number)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            self._generator_update.watch(tape)
            own = self._own_fakes(portion, number)
            if fresh is None and self._replay is None:
                shown = own
                judged = self._judge.judge(portion, own, number)
                loss = self._judge.generator_loss_of(judged.real, judged.fake, own)
            else:
                with tape.stop_recording():
                    shown = self._shown(fresh or own, number, "replay")
                    judged = self._judge.judge(portion, shown, number)
                loss = self._judge.generator_loss(portion, own)
        gradient = self._generator_update.gradient(tape, loss)
        done = [*done, self._update_discriminator(judged, portion, shown, done)]
        return self._finish(_GeneratorPass(loss, gradient), done, own.images)

    def _accumulated(self, portion: Portion, number: Tensor, done: list[Done]) -> StepResult:
        """As both of the above, micro-batch by micro-batch: the generator's pass recomputes its forward, and nothing is held."""
        stream = "generator" if self._shared else "discriminator"
        if self._settings.updates == "simultaneous":
            passed = self._generator_over_parts(portion, number)
            done = [*done, self._train_discriminator(portion, number, stream, done)]
        else:
            done = [*done, self._train_discriminator(portion, number, stream, done)]
            passed = self._generator_over_parts(portion, number)
        return self._finish(passed, done, None)

    def _generator_over_parts(self, portion: Portion, number: Tensor) -> _GeneratorPass:
        def part(index: Tensor) -> list[Tensor]:
            piece = portion.part(index, self._settings.accumulate)
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                self._generator_update.watch(tape)
                loss = self._judge.generator_loss(piece, self._own_fakes(piece, number))
            return [loss, *self._generator_update.complete(self._generator_update.gradient(tape, loss))]

        shapes = [(), *(variable.shape for variable in self._generator_update.variables)]
        loss, *gradients = mean_over_parts(part, self._settings.accumulate, shapes)
        return _GeneratorPass(loss, gradients)

    # ---------------------------------------------------------------- one discriminator update

    def _train_discriminator(self, portion: Portion, number: Tensor, stream: str, done: list[Done]) -> Done:
        """An update of its own: fakes, loss, gradient, whole or by micro-batches."""

        def judged_on(piece: Portion) -> tuple[Judged, Fakes]:
            fakes = self._shown(self._fakes_for_discriminator(piece, number, stream), number, f"replay/{stream}", piece.index)
            return self._judge.judge(piece, fakes, number), fakes

        if self._settings.accumulate == 1:
            judged, fakes = judged_on(portion)
            return self._update_discriminator(judged, portion, fakes, done)
        update, parts = self._discriminator_update, self._settings.accumulate

        def part(index: Tensor) -> list[Tensor]:
            piece = portion.part(index, parts)
            judged, fakes = judged_on(piece)
            return [judged.loss, facts.facts_of(judged, piece, fakes, self._watch), *update.complete(judged.gradients)]

        shapes = [(), (len(self.facts) - len(facts.FACTS) + 2,), *(variable.shape for variable in update.variables)]
        loss, own, *gradients = mean_over_parts(part, parts, shapes)
        return Done(loss, own, update.run(loss, gradients, _gate(done)))

    def _update_discriminator(self, judged: Judged, portion: Portion, shown: Fakes, done: list[Done]) -> Done:
        own = facts.facts_of(judged, portion, shown, self._watch)
        return Done(judged.loss, own, self._discriminator_update.run(judged.loss, judged.gradients, _gate(done)))

    # ---------------------------------------------------------------- fakes

    @property
    def _shared(self) -> bool:
        return self._settings.fakes == "shared"

    def _own_fakes(self, portion: Portion, number: Tensor) -> Fakes:
        """The forward that serves the generator's own update, and moves its BatchNorm statistics."""
        training = not (self._shared and self._settings.generator_mode == "inference")
        return self.maker.make(portion, number, "generator", training)

    def _fresh_fakes(self, portion: Portion, number: Tensor) -> Fakes | None:
        """The last discriminator update's own fakes, made before the generator's own forward moves statistics; None if shared."""
        return None if self._shared else self._fakes_for_discriminator(portion, number, "discriminator")

    def _fakes_for_discriminator(self, portion: Portion, number: Tensor, stream: str) -> Fakes:
        training = self._settings.generator_mode == "train"
        return self.maker.make_without_trace(portion, number, stream, training)

    def _shown(self, fakes: Fakes, number: Tensor, stream: str, part: Tensor | int = 0) -> Fakes:
        """What the discriminator sees of them: some are exchanged for earlier ones where there is a history."""
        if self._replay is None:
            return fakes
        return self._replay.exchange(fakes, self.maker.draws.key(f"{stream}", number), part)

    # ---------------------------------------------------------------- the end of the step

    def _finish(self, passed: _GeneratorPass, done: list[Done], fake: Tensor | None) -> StepResult:
        outcome = self._generator_update.run(passed.loss, passed.gradients, gate=done[-1].outcome.fine)
        offset = len(self._discriminator_update.suspects)
        own_blamed = tf.where(outcome.blamed < 0, outcome.blamed, outcome.blamed + offset)
        blamed = tf.reduce_max([*(item.outcome.blamed for item in done), own_blamed])
        return StepResult(self._facts(passed.loss, outcome, done), outcome.fine, blamed, fake)

    def _facts(self, loss: Tensor, outcome: Outcome, done: list[Done]) -> Tensor:
        """In the order of `self.facts`."""
        own = _mean([item.facts for item in done])
        losses = tf.stack([loss, _mean([item.loss for item in done])])
        shares = facts.summed_over_replicas(tf.concat([losses, own], axis=0))
        norms = tf.stack([outcome.norm, _mean([item.outcome.norm for item in done])])
        return tf.concat([shares[:4], norms, shares[4:]], axis=0)


def _gate(done: list[Done]) -> Tensor:
    return done[-1].outcome.fine if done else tf.constant(True)


def _mean(items: list[Tensor]) -> Tensor:
    return items[0] if len(items) == 1 else tf.add_n(items) / len(items)
