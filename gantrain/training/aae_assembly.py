"""From a spec of task `aae` and its three nets to the step and the engine, and what of it has state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import tensorflow as tf

from gantrain import registry
from gantrain.objectives.penalties import WeightedPenalty, build_penalties, penalty_state
from gantrain.objectives.reconstruction import RECONSTRUCTIONS
from gantrain.spec.aae import AaeSpec
from gantrain.state import prefixed
from gantrain.training.aae import FACTS, AaeLosses, AaeStep, Updates
from gantrain.training.assembly import make_objective, rate_of, slots_of
from gantrain.training.draws import Draws
from gantrain.training.engine import Engine, Skipping
from gantrain.training.judging import Judge
from gantrain.training.loss_scale import LossScale
from gantrain.training.nets import Net
from gantrain.training.progress import Progress
from gantrain.training.update import Update


@dataclass(frozen=True)
class AaeNets:
    """The three nets."""

    encoder: Net
    decoder: Net
    discriminator: Net

    @property
    def all(self) -> list[Net]:
        """In this order."""
        return [self.encoder, self.decoder, self.discriminator]


@dataclass(frozen=True)
class AaeParts:
    """What a step is made of besides the nets, and what of it has state."""

    updates: Updates
    progress: Progress
    penalties: tuple[WeightedPenalty, ...]


def make_aae_parts(spec: AaeSpec, nets: AaeNets) -> AaeParts:
    """Optimizers and penalties of a spec. Raises UsageError."""
    progress = Progress(FACTS, skips=spec.training.on_nonfinite == "skip")
    both = {**nets.encoder.trainable, **nets.decoder.trainable}
    updates = Updates(
        _update(spec, "reconstruction", both, progress),
        _update(spec, "discriminator", nets.discriminator.trainable, progress),
        _update(spec, "regularisation", nets.encoder.trainable, progress) if spec.objective.regularisation_weight else None,
    )
    return AaeParts(updates, progress, build_penalties(spec.objective.penalties))


def _update(spec: AaeSpec, role: str, variables: Mapping[str, tf.Variable], progress: Progress) -> Update:
    settings, training = getattr(spec.optimizers, role), spec.training
    return Update(
        role,
        variables,
        registry.build(settings, variables),
        rate_of(settings.learning_rate, spec.data.batch_size, progress),
        training.clip_norm,
        tuple(registry.build(item) for item in spec.objective.constraints) if role == "discriminator" else (),
        LossScale() if training.precision == "mixed_float16" else None,
    )


def make_aae_step(spec: AaeSpec, nets: AaeNets, parts: AaeParts, draws: Draws) -> AaeStep:
    """The step of the three nets."""
    objective = spec.objective
    judge = Judge(
        nets.discriminator,
        parts.updates.discriminator,
        make_objective(objective, parts.penalties),
        lambda *part: draws.key(*part),
    )
    losses = AaeLosses(
        reconstruction=RECONSTRUCTIONS[objective.reconstruction],
        weight=rate_of(objective.weight, spec.data.batch_size, parts.progress),
        regularisation_weight=objective.regularisation_weight,
        boundary=objective.loss.boundary(),
    )
    return AaeStep((nets.encoder, nets.decoder), judge, parts.updates, losses, draws, spec.prior.uses_labels())


def make_aae_engine(spec: AaeSpec, step: AaeStep, nets: AaeNets, parts: AaeParts) -> Engine:
    """The engine of the step."""
    skipping = None
    if spec.training.on_nonfinite == "skip":
        moved = [variable for net in nets.all for variable in net.statistics]
        skipping = Skipping(spec.training.skip_budget, [*moved, *penalty_state(parts.penalties).values()])
    return Engine(step, parts.progress, lambda _: None, spec.batches_per_step, spec.training.jit, skipping)


def aae_state(nets: AaeNets, parts: AaeParts) -> dict[str, tf.Variable]:
    """What a checkpoint saves: every variable by its key."""
    state = prefixed("progress", parts.progress.variables) | penalty_state(parts.penalties)
    for net in nets.all:
        state |= net.variables
    updates = parts.updates
    for update in (updates.reconstruction, updates.discriminator, updates.regularisation):
        state |= {} if update is None else slots_of(update)
    return state
