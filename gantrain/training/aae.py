"""The training step of task `aae`: reconstruction, then the discriminator of codes, then the encoder against it.

Adversarial autoencoders, Makhzani et al. 2015 (arXiv:1511.05644), algorithm of section 2. In the game prior draws are real and
codes are fake. Written in replica context, as training/gan.py: every loss is divided by the number of replicas. The size of a
batch is read when the step runs, so that a smaller last one gets as many prior draws as it has examples, in the same trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from gantrain.aae_interfaces import EncoderOutput
from gantrain.interfaces import Tensor
from gantrain.training.draws import Draws
from gantrain.training.facts import summed_over_replicas
from gantrain.training.fakes import Batch, Fakes, Portion
from gantrain.training.gan import StepResult
from gantrain.training.judging import Judge, Judged, share
from gantrain.training.nets import Net
from gantrain.training.trials import Trial
from gantrain.training.update import Outcome, Update

# In this order. Means over the global batch; the reconstruction's loss without its weight.
FACTS: tuple[str, ...] = (
    "loss/reconstruction",
    "loss/discriminator",
    "loss/regularisation",
    "logits/real",
    "logits/fake",
    "accuracy/discriminator",  # share of prior draws and codes on the right side
    "grad_norm/reconstruction",
    "grad_norm/discriminator",
    "grad_norm/regularisation",
)


@dataclass(frozen=True)
class Updates:
    """The three updates, in their order. `regularisation` is None for an autoencoder whose codes follow nothing."""

    reconstruction: Update
    discriminator: Update
    regularisation: Update | None


@dataclass(frozen=True)
class AaeLosses:
    """`reconstruction` (x, rebuilt) -> [B]; its weight, or a function that reads it; the encoder's weight in the game.

    `boundary`: the logit above which a code counts as real; None: half-way between both means.
    """

    reconstruction: Callable[[Tensor, Tensor], Tensor]
    weight: float | Callable[[], Tensor]
    regularisation_weight: float
    boundary: float | None


class AaeStep:
    """One step, called as step(batches, number) with one batch: x, (x,), (x, labels) or {"real": x, "labels": labels}."""

    facts = FACTS

    def __init__(
        self, nets: tuple[Net, Net], judge: Judge, updates: Updates, losses: AaeLosses, draws: Draws, prior_by_label: bool
    ) -> None:
        """`nets`: encoder and decoder."""
        self._encoder, self._decoder = nets
        self._judge = judge
        self._updates = updates
        self._losses = losses
        self._draws = draws
        self._by_label = prior_by_label

    @property
    def suspects(self) -> list[str]:
        """Names behind `StepResult.blamed`."""
        updates = self._updates
        last = [] if updates.regularisation is None else updates.regularisation.suspects
        return [*updates.reconstruction.suspects, *updates.discriminator.suspects, *last]

    def __call__(self, batches: Sequence[Any], number: Tensor) -> StepResult:
        """The three updates; each is left out where one before it was not finite."""
        portion = Portion(batch_of(batches[0]))
        error, rebuilt = self._reconstruct(portion, number)
        prior = self._prior(portion, number)
        if self._updates.regularisation is None:
            judged, outcome = self._discriminate(prior, self._codes_without_trace(portion, number), number, rebuilt.fine)
            return self._result(error, judged, tf.zeros([]), [rebuilt, outcome])
        return self._play(portion, prior, number, error, rebuilt)

    def trials(self) -> list[Trial]:
        """Each update apart from the others, in the order of the step."""
        updates = self._updates
        reconstruction = Trial(
            updates.reconstruction,
            lambda batch, number: self._reconstruction(Portion(batch), number)[1:],
            moves=("encoder", "decoder"),
            setting="reconstruction",
        )
        discriminator = Trial(updates.discriminator, self._try_discriminator, moves=("discriminator",), once=False)
        last = [] if updates.regularisation is None else [Trial(updates.regularisation, self._try_regularisation, moves=())]
        return [reconstruction, discriminator, *last]

    def _try_discriminator(self, batch: Batch, number: Tensor) -> tuple[Tensor, list[Tensor | None]]:
        portion = Portion(batch)
        judged = self._judged(self._prior(portion, number), self._codes_without_trace(portion, number), number)
        return judged.loss, judged.gradients

    def _try_regularisation(self, batch: Batch, number: Tensor) -> tuple[Tensor, list[Tensor | None]]:
        portion, update = Portion(batch), self._updates.regularisation
        assert update is not None
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            update.watch(tape)
            loss = self._regularisation_loss(self._prior(portion, number), self._codes_without_trace(portion, number))
        return loss, update.gradient(tape, loss)

    # ---------------------------------------------------------------- the updates

    def _reconstruct(self, portion: Portion, number: Tensor) -> tuple[Tensor, Outcome]:
        """The error without its weight, this replica's share, and the outcome of the update of encoder and decoder."""
        error, loss, gradients = self._reconstruction(portion, number)
        return error, self._updates.reconstruction.run(loss, gradients, gate=tf.constant(True))

    def _reconstruction(self, portion: Portion, number: Tensor) -> tuple[Tensor, Tensor, list[Tensor | None]]:
        """Encoder and decoder: the error without its weight, the loss, and its gradient."""
        update, weight = self._updates.reconstruction, self._losses.weight
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            update.watch(tape)
            codes = self._codes(portion, number, "reconstruction")
            rebuilt = self._decoder.model(codes, portion.labels, training=True)
            error = share(self._losses.reconstruction(portion.real, rebuilt))
            loss = error * (weight() if callable(weight) else weight)
        return error, loss, update.gradient(tape, loss)

    def _judged(self, prior: Portion, codes: Tensor, number: Tensor) -> Judged:
        return self._judge.judge(prior, Fakes(tf.stop_gradient(codes), prior.labels), number)

    def _discriminate(self, prior: Portion, codes: Tensor, number: Tensor, gate: Tensor) -> tuple[Judged, Outcome]:
        judged = self._judged(prior, codes, number)
        return judged, self._updates.discriminator.run(judged.loss, judged.gradients, gate)

    def _play(self, portion: Portion, prior: Portion, number: Tensor, error: Tensor, rebuilt: Outcome) -> StepResult:
        """One encoder forward serves the discriminator's update and, through the updated discriminator, the encoder's own."""
        update = self._updates.regularisation
        assert update is not None
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            update.watch(tape)
            codes = self._codes_without_trace(portion, number)
            with tape.stop_recording():
                judged, outcome = self._discriminate(prior, codes, number, rebuilt.fine)
            loss = self._regularisation_loss(prior, codes)
        own = update.run(loss, update.gradient(tape, loss), gate=outcome.fine)
        return self._result(error, judged, loss, [rebuilt, outcome, own])

    def _regularisation_loss(self, prior: Portion, codes: Tensor) -> Tensor:
        return self._losses.regularisation_weight * self._judge.generator_loss(prior, Fakes(codes, prior.labels))

    # ---------------------------------------------------------------- codes and prior draws

    def _codes(self, portion: Portion, number: Tensor, stream: str) -> Tensor:
        """[b,Z]; this forward moves the encoder's statistics."""
        output: EncoderOutput = self._encoder.model(portion.real, training=True)
        if output.log_std is None:
            return output.mean
        noise = self._draws.noise(stream, number, tf.shape(portion.real)[0])
        return output.mean + tf.exp(output.log_std) * noise

    def _codes_without_trace(self, portion: Portion, number: Tensor) -> Tensor:
        return self._encoder.keeping_statistics(lambda: self._codes(portion, number, "regularisation"))

    def _prior(self, portion: Portion, number: Tensor) -> Portion:
        """The batch with prior draws [b,Z] in the place of its examples, one for each."""
        return Portion({**portion.batch, "real": self._prior_draws(portion, number)})

    def _prior_draws(self, portion: Portion, number: Tensor) -> Tensor:
        if self._by_label:
            assert portion.labels is not None
            return self._draws.latents_of("prior", number, portion.labels)
        return self._draws.latents("prior", number, tf.shape(portion.real)[0])

    # ---------------------------------------------------------------- the end of the step

    def _result(self, error: Tensor, judged: Judged, regularisation: Tensor, outcomes: list[Outcome]) -> StepResult:
        real, fake = judged.real.logits, judged.fake.logits
        shares = [error, judged.loss, regularisation, share(real), share(fake), self._accuracy(real, fake)]
        norms = [outcome.norm for outcome in outcomes] + [tf.zeros([])] * (3 - len(outcomes))
        facts = tf.concat([summed_over_replicas(tf.stack(shares)), tf.stack(norms)], axis=0)
        return StepResult(facts, outcomes[-1].fine, self._blamed(outcomes), None)

    def _accuracy(self, real: Tensor, fake: Tensor) -> Tensor:
        boundary = self._losses.boundary
        if boundary is None:
            boundary = summed_over_replicas(0.5 * (share(real) + share(fake)))
        right = tf.concat([real > boundary, fake < boundary], axis=0)
        return share(tf.cast(right, tf.float32))

    def _blamed(self, outcomes: list[Outcome]) -> Tensor:
        """The first that was not finite; those after it were left out, and blame nothing."""
        offset, found = 0, list[Tensor]()
        for outcome, update in zip(outcomes, (self._updates.reconstruction, self._updates.discriminator, None), strict=False):
            found.append(tf.where(outcome.blamed < 0, outcome.blamed, outcome.blamed + offset))
            offset += 0 if update is None else len(update.suspects)
        return tf.reduce_max(tf.stack(found))


def batch_of(element: Any) -> Batch:
    """The batch in any of the forms that datasets give: x, (x,), (x, labels), {"real": x, "labels": labels}."""
    if isinstance(element, dict):
        return element
    if not isinstance(element, tuple | list):
        return {"real": element}
    return dict(zip(("real", "labels"), element, strict=False))
