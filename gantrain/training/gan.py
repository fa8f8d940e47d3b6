"""The training step of task `gan`: discriminator updates, then one generator update.

Written in replica context: a batch here is this replica's share, and every loss is divided by the number of replicas, so that
summing over them gives the mean over the global batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import tensorflow as tf

from gantrain.interfaces import DiscriminatorOutput, Loss, PenaltyContext, Tensor
from gantrain.spec.model import Training
from gantrain.training.draws import Draws
from gantrain.training.nets import Net
from gantrain.training.update import Outcome, Update

# What a step reports, in this order. Losses and logits are means over the global batch (and the step's discriminator updates).
FACTS = (
    "loss/generator",
    "loss/discriminator",
    "logits/real",
    "logits/fake",
    "grad_norm/generator",
    "grad_norm/discriminator",
)

Batch = dict[str, Tensor]  # "real" [B,*shape], and "labels" [B] where a net reads labels


@dataclass(frozen=True)
class Objective:
    """The two losses; whether the generator's reads the real logits; and the weighted sum of penalties, meant over the batch.

    `penalty` is (context, step) -> scalar, or None without penalties.
    """

    loss: Loss
    generator_reads_real: bool
    penalty: Callable[[PenaltyContext, Tensor], Tensor] | None


class StepResult(NamedTuple):
    """`facts` [len(FACTS)] float32; `fine`: all was finite; `blamed`: index into `suspects` or -1; `fake`: the last fakes."""

    facts: Tensor
    fine: Tensor
    blamed: Tensor
    fake: Tensor


@dataclass(frozen=True)
class _Fakes:
    images: Tensor
    labels: Tensor | None


@dataclass(frozen=True)
class _Judged:
    """The discriminator on one batch: both outputs, its loss (this replica's share) and the gradient of it."""

    real: DiscriminatorOutput
    fake: DiscriminatorOutput
    loss: Tensor
    gradients: list[Tensor | None]


@dataclass(frozen=True)
class _Done:
    """A discriminator update that was run."""

    judged: _Judged
    outcome: Outcome


class GanStep:
    """One step, called as step(batches, number) with one batch per discriminator update."""

    def __init__(
        self, nets: tuple[Net, Net], updates: tuple[Update, Update], objective: Objective, draws: Draws, settings: Training,
        histogram: Sequence[float] | None,
    ) -> None:  # fmt: skip
        self._generator, self._discriminator = nets
        self._generator_update, self._discriminator_update = updates
        self._objective = objective
        self._draws = draws
        self._settings = settings
        self._histogram = histogram  # shares of the classes, from which fake labels are drawn; None without labels

    @property
    def suspects(self) -> list[str]:
        """Names behind `StepResult.blamed`."""
        return [*self._discriminator_update.suspects, *self._generator_update.suspects]

    def __call__(self, batches: Sequence[Batch], number: Tensor) -> StepResult:
        """Discriminator updates on all batches but the last, then the last one together with the generator's."""
        done: list[_Done] = []
        for index, batch in enumerate(batches[:-1]):
            fakes = self._fakes_for_discriminator(batch, number, f"discriminator{index}")
            done.append(self._update_discriminator(self._judge(batch, fakes, number), done))
        last = self._simultaneous if self._settings.updates == "simultaneous" else self._alternating
        return last(batches[-1], number, done)

    # ---------------------------------------------------------------- the two orders of the last two updates

    def _alternating(self, batch: Batch, number: Tensor, done: list[_Done]) -> StepResult:
        """The generator's loss goes through the already updated discriminator."""
        fresh = self._fresh_fakes(batch, number)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            self._generator_update.watch(tape)
            own = self._own_fakes(batch, number)
            with tape.stop_recording():
                judged = self._judge(batch, fresh or own, number)
                done = [*done, self._update_discriminator(judged, done)]
            loss = self._generator_loss(batch, own, judged.real)
        return self._finish(loss, self._generator_gradient(tape, loss), done, own)

    def _simultaneous(self, batch: Batch, number: Tensor, done: list[_Done]) -> StepResult:
        """Both gradients at the same weights; with shared fakes one discriminator forward on them serves both losses."""
        fresh = self._fresh_fakes(batch, number)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            self._generator_update.watch(tape)
            own = self._own_fakes(batch, number)
            if fresh is None:
                judged = self._judge(batch, own, number)
                loss = _share(self._objective.loss.generator(judged.real.logits, judged.fake.logits))
            else:
                with tape.stop_recording():
                    judged = self._judge(batch, fresh, number)
                loss = self._generator_loss(batch, own, judged.real)
        gradient = self._generator_gradient(tape, loss)
        return self._finish(loss, gradient, [*done, self._update_discriminator(judged, done)], own)

    def _generator_gradient(self, tape: tf.GradientTape, loss: Tensor) -> list[Tensor | None]:
        return tape.gradient(loss, self._generator_update.variables)

    def _finish(self, loss: Tensor, gradient: list[Tensor | None], done: list[_Done], own: _Fakes) -> StepResult:
        outcome = self._generator_update.run(loss, gradient, gate=done[-1].outcome.fine)
        offset = len(self._discriminator_update.suspects)
        own_blamed = tf.where(outcome.blamed < 0, outcome.blamed, outcome.blamed + offset)
        blamed = tf.reduce_max([*(item.outcome.blamed for item in done), own_blamed])
        return StepResult(self._facts(loss, outcome, done), outcome.fine, blamed, own.images)

    # ---------------------------------------------------------------- fakes

    @property
    def _shared(self) -> bool:
        return self._settings.fakes == "shared"

    def _own_fakes(self, batch: Batch, number: Tensor) -> _Fakes:
        """The forward that serves the generator's own update, and moves its BatchNorm statistics."""
        training = not (self._shared and self._settings.generator_mode == "inference")
        return self._generate(batch, number, "generator", training)

    def _fresh_fakes(self, batch: Batch, number: Tensor) -> _Fakes | None:
        """The last discriminator update's own fakes, made before the generator's own forward moves statistics; None if shared."""
        return None if self._shared else self._fakes_for_discriminator(batch, number, "discriminator")

    def _fakes_for_discriminator(self, batch: Batch, number: Tensor, stream: str) -> _Fakes:
        """Fakes of their own latents that only the discriminator sees; the generator's statistics stay."""
        training = self._settings.generator_mode == "train"
        return self._generator.keeping_statistics(lambda: self._generate(batch, number, stream, training))

    def _generate(self, batch: Batch, number: Tensor, stream: str, training: bool) -> _Fakes:
        count = tf.shape(batch["real"])[0]
        latents = self._draws.latents(stream, number, count)
        labels = self._draws.labels(stream, number, count, self._histogram)
        images = self._generator.model(latents, labels, training=training)
        images.set_shape(batch["real"].shape)
        return _Fakes(images, labels)

    # ---------------------------------------------------------------- losses

    def _judge(self, batch: Batch, fakes: _Fakes, number: Tensor) -> _Judged:
        """Real and fake in two separate calls, always in training mode, and the gradient of the discriminator's loss."""
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            self._discriminator_update.watch(tape)
            real = self._discriminate(batch["real"], batch.get("labels"))
            fake = self._discriminate(fakes.images, fakes.labels)
            loss = _share(self._objective.loss.discriminator(real.logits, fake.logits))
            if self._objective.penalty is not None:
                loss += self._objective.penalty(self._context(batch, fakes, real, fake, number), number) / _replicas()
        return _Judged(real, fake, loss, tape.gradient(loss, self._discriminator_update.variables))

    def _context(
        self, batch: Batch, fakes: _Fakes, real: DiscriminatorOutput, fake: DiscriminatorOutput, number: Tensor
    ) -> PenaltyContext:
        labels = batch.get("labels")

        def critic(x: Tensor) -> Tensor:
            return self._discriminator.keeping_statistics(lambda: self._discriminate(x, labels).logits)

        key = self._draws.key("penalty", number)
        return PenaltyContext(critic, batch["real"], tf.stop_gradient(fakes.images), labels, real, fake, key)

    def _discriminate(self, x: Tensor, labels: Tensor | None) -> DiscriminatorOutput:
        return self._discriminator.model(x, labels, training=True)

    def _generator_loss(self, batch: Batch, own: _Fakes, real: DiscriminatorOutput) -> Tensor:
        """The generator's loss by its own pass through the discriminator, whose statistics only its own update moves."""
        real_logits = real.logits
        if self._objective.generator_reads_real:
            real_logits = self._without_trace(batch["real"], batch.get("labels"))
        return _share(self._objective.loss.generator(real_logits, self._without_trace(own.images, own.labels)))

    def _without_trace(self, x: Tensor, labels: Tensor | None) -> Tensor:
        return self._discriminator.keeping_statistics(lambda: self._discriminate(x, labels).logits)

    def _update_discriminator(self, judged: _Judged, done: list[_Done]) -> _Done:
        gate = done[-1].outcome.fine if done else tf.constant(True)
        return _Done(judged, self._discriminator_update.run(judged.loss, judged.gradients, gate))

    # ---------------------------------------------------------------- facts

    def _facts(self, loss: Tensor, outcome: Outcome, done: list[_Done]) -> Tensor:
        parts = [loss, *(_mean(read(item) for item in done) for read in (_loss, _real_logit, _fake_logit))]
        norms = [outcome.norm, _mean(item.outcome.norm for item in done)]
        return tf.stack([*_sum_over_replicas(parts), *norms])


def _loss(done: _Done) -> Tensor:
    return done.judged.loss


def _real_logit(done: _Done) -> Tensor:
    return _share(done.judged.real.logits)


def _fake_logit(done: _Done) -> Tensor:
    return _share(done.judged.fake.logits)


def _mean(items: Iterable[Tensor]) -> Tensor:
    listed = list(items)
    return listed[0] if len(listed) == 1 else tf.add_n(listed) / len(listed)


def _share(per_example: Tensor) -> Tensor:
    """Sum over this replica's examples divided by the global batch."""
    return tf.reduce_mean(per_example) / _replicas()


def _replicas() -> int:
    return tf.distribute.get_strategy().num_replicas_in_sync


def _sum_over_replicas(parts: list[Tensor]) -> list[Tensor]:
    context = tf.distribute.get_replica_context()
    if context.num_replicas_in_sync == 1:
        return parts
    return context.all_reduce(tf.distribute.ReduceOp.SUM, parts)
