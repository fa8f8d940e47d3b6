"""The discriminator at work in a step: its own loss with all that is added to it, and the generator's loss through it.

Everything here is in replica context: each loss is divided by the number of replicas, so that the sum over them is the mean over
the global batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tensorflow as tf

from gantrain.interfaces import DiscriminatorOutput, Loss, PenaltyContext, Tensor
from gantrain.objectives.slope_penalties import slope_of
from gantrain.training.fakes import Fakes, Portion
from gantrain.training.nets import Net
from gantrain.training.update import Update


@dataclass(frozen=True)
class Objective:
    """The two losses; whether the generator's reads the real logits; and what is added to the discriminator's.

    `penalty` is (context, step) -> scalar, `regulariser` (variables) -> scalar; None without any. `class_weight` is the factor of
    the classification loss of a discriminator that names classes.
    """

    loss: Loss
    generator_reads_real: bool
    penalty: Callable[[PenaltyContext, Tensor], Tensor] | None
    regulariser: Callable[[list[tf.Variable]], Tensor] | None = None
    class_weight: float = 1.0


@dataclass(frozen=True)
class Judged:
    """The discriminator on one batch: both outputs, its loss (this replica's share) and the gradient of it."""

    real: DiscriminatorOutput
    fake: DiscriminatorOutput
    loss: Tensor
    gradients: list[Tensor | None]


@dataclass(frozen=True)
class _Seen:
    """One forward: its output, and the gradient of its logits by the examples for penalties that ask."""

    output: DiscriminatorOutput
    slope: Callable[[], Tensor]


class Judge:
    """The discriminator with its objective. `key_of` (stream, step) gives the key of random draws."""

    def __init__(self, discriminator: Net, update: Update, objective: Objective, key_of: Callable[[str, Tensor], Tensor]) -> None:
        self._discriminator = discriminator
        self._update = update
        self._objective = objective
        self._key_of = key_of

    def judge(self, portion: Portion, fakes: Fakes, number: Tensor) -> Judged:
        """Real and fake in two separate calls, always in training mode, and the gradient of the discriminator's loss."""
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            self._update.watch(tape)
            seen = self._see(portion.real, portion.labels), self._see(fakes.images, fakes.labels)
            real, fake = seen[0].output, seen[1].output
            loss = share(self._objective.loss.discriminator(real.logits, fake.logits))
            loss += self._class_loss(real, portion.labels) + self._class_loss(fake, fakes.labels)
            loss += self._added(portion, fakes, seen, number)
        return Judged(real, fake, loss, self._update.gradient(tape, loss))

    def _see(self, x: Tensor, labels: Tensor | None) -> _Seen:
        """A forward that moves statistics. Persistent: several penalties may ask for the slope."""
        with tf.GradientTape(watch_accessed_variables=False, persistent=True) as tape:
            tape.watch(x)
            output = self._discriminate(x, labels)
        return _Seen(output, lambda: slope_of(tape, output.logits, x, self._update.scale))

    def generator_loss(self, portion: Portion, own: Fakes) -> Tensor:
        """The generator's loss by its own pass through the discriminator, whose state only its own update moves."""
        fake = self._without_trace(own.images, own.labels)
        real = fake  # not read
        if self._objective.generator_reads_real:
            real = self._without_trace(portion.real, portion.labels)
        return self.generator_loss_of(real, fake, own)

    def generator_loss_of(self, real: DiscriminatorOutput, fake: DiscriminatorOutput, own: Fakes) -> Tensor:
        """The generator's loss of outputs that are there already."""
        return share(self._objective.loss.generator(real.logits, fake.logits)) + self._class_loss(fake, own.labels)

    def _added(self, portion: Portion, fakes: Fakes, seen: tuple[_Seen, _Seen], number: Tensor) -> Tensor:
        """Penalties and regularisers."""
        added = tf.zeros([])
        if self._objective.penalty is not None:
            added += self._objective.penalty(self._context(portion, fakes, seen, number), number)
        if self._objective.regulariser is not None:
            added += self._objective.regulariser(self._update.variables)
        return added / replicas()

    def _context(self, portion: Portion, fakes: Fakes, seen: tuple[_Seen, _Seen], number: Tensor) -> PenaltyContext:
        def critic_with(labels: Tensor | None) -> Callable[[Tensor], Tensor]:
            return lambda x: self._without_trace(x, labels).logits

        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        return PenaltyContext(
            critic=critic_with(portion.labels),
            real=portion.real,
            fake=tf.stop_gradient(fakes.images),
            labels=portion.labels,
            real_output=seen[0].output,
            fake_output=seen[1].output,
            key=self._key_of("penalty", number),
            fake_critic=critic_with(fakes.labels),
            scale=self._update.scale,
            part=replica * portion.parts + portion.index,
            parts=portion.parts * replicas(),
            real_slope=seen[0].slope,
            fake_slope=seen[1].slope,
        )

    def _class_loss(self, output: DiscriminatorOutput, labels: Tensor | None) -> Tensor:
        """Cross entropy of the class, -log p(y), of a discriminator that names classes (Odena et al. 2017, arXiv:1610.09585)."""
        if output.class_logits is None or labels is None:
            return tf.zeros([])
        logits = tf.cast(output.class_logits, tf.float32)
        return self._objective.class_weight * share(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))

    def _discriminate(self, x: Tensor, labels: Tensor | None) -> DiscriminatorOutput:
        return self._discriminator.model(x, labels, training=True)

    def _without_trace(self, x: Tensor, labels: Tensor | None) -> DiscriminatorOutput:
        return self._discriminator.keeping_statistics(lambda: self._discriminate(x, labels))


def share(per_example: Tensor) -> Tensor:
    """Sum over this replica's examples divided by the global batch (or by the global micro-batch)."""
    return tf.reduce_mean(per_example) / replicas()


def replicas() -> int:
    """Number of replicas."""
    return tf.distribute.get_strategy().num_replicas_in_sync
