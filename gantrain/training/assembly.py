"""From a spec and two nets to the step and the engine: optimizers, objective, history, health, and what of it has state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from gantrain import registry
from gantrain.errors import UsageError
from gantrain.interfaces import ScheduleSettings, Source, Tensor
from gantrain.manifest import DataFacts
from gantrain.objectives.penalties import WeightedPenalty, build_penalties, build_regulariser, penalty_state, sum_penalties
from gantrain.spec.model import Objective as ObjectiveSettings
from gantrain.spec.model import Spec
from gantrain.state import prefixed
from gantrain.training.draws import Draws
from gantrain.training.ema import ema_beta, update_average
from gantrain.training.engine import Engine, Skipping
from gantrain.training.facts import Watch, names
from gantrain.training.fakes import FakeMaker
from gantrain.training.gan import GanStep
from gantrain.training.health import Health
from gantrain.training.judging import Judge, Objective, replicas
from gantrain.training.loss_scale import LossScale
from gantrain.training.nets import Net
from gantrain.training.progress import Progress
from gantrain.training.replay import ReplayBuffer
from gantrain.training.update import Update


def labels_used(spec: Spec) -> bool:
    """Whether either net reads labels."""
    return spec.generator.uses_labels() or spec.discriminator.uses_labels()


@dataclass(frozen=True)
class Parts:
    """What a step is made of besides the nets, and what of it has state."""

    updates: tuple[Update, Update]
    progress: Progress
    penalties: tuple[WeightedPenalty, ...]
    replay: ReplayBuffer | None
    watch: Watch | None
    health: Health | None


def make_parts(spec: Spec, data: DataFacts, nets: tuple[Net, Net]) -> Parts:
    """Optimizers, penalties, history and health of a spec. Raises UsageError."""
    require_jit_possible(spec.training.jit)
    boundary, data_range = spec.objective.loss.boundary(), data.network_range
    watch = None if spec.training.health == "off" else Watch(boundary, data_range)
    health = None if spec.training.health == "off" else Health(boundary is not None)
    progress = Progress(names(watch), skips=spec.training.on_nonfinite == "skip")
    replay = None
    if spec.replay is not None:
        replay = ReplayBuffer(spec.replay, data.shape, with_labels=labels_used(spec))
    updates = (_update(spec, nets[0], progress), _update(spec, nets[1], progress))
    penalties = build_penalties(spec.objective.penalties)
    require_one_replica([*(["replay"] if replay else []), *(penalty.name for penalty in penalties if penalty.variables)])
    return Parts(updates, progress, penalties, replay, watch, health)


def require_one_replica(stateful: list[str]) -> None:
    """Raises UsageError for components whose states replicas would each move by their own share of the batch."""
    if stateful and replicas() > 1:
        raise UsageError(
            f"{', '.join(stateful)}: its state depends on the whole batch, which {replicas()} replicas share out; "
            "train on one device, or leave it out"
        )


def require_jit_possible(jit: bool) -> None:
    """Raises UsageError where the step sums over replicas: XLA compiles no such exchange on every device."""
    if jit and replicas() > 1:
        raise UsageError(f"training.jit: a step on {replicas()} replicas cannot be compiled as a whole; write jit: false")


def _update(spec: Spec, net: Net, progress: Progress) -> Update:
    settings = getattr(spec.optimizers, net.role)
    constraints = spec.objective.constraints if net.role == "discriminator" else ()
    return Update(
        net.role,
        net.trainable,
        registry.build(settings, net.trainable),
        rate_of(settings.learning_rate, spec.data.batch_size * spec.training.discriminator_steps, progress),
        spec.training.clip_norm,
        tuple(registry.build(item) for item in constraints),
        LossScale() if spec.training.precision == "mixed_float16" else None,
    )


def rate_of(settings: float | ScheduleSettings, images_per_step: int, progress: Progress) -> float | Callable[[], Tensor]:
    """A number as it is; a schedule as a function of the images seen before the current step."""
    if not isinstance(settings, ScheduleSettings):
        return settings
    schedule = registry.build(settings)
    return lambda: schedule(tf.cast(progress.step.read_value() * images_per_step, tf.float32))


def make_step(spec: Spec, source: Source, nets: tuple[Net, Net], parts: Parts, draws: Draws) -> GanStep:
    """The step of the two nets (generator, discriminator)."""
    judge = Judge(nets[1], parts.updates[1], make_objective(spec.objective, parts.penalties), lambda *part: draws.key(*part))
    maker = FakeMaker(nets[0], draws, _histogram(spec, source))
    return GanStep(maker, judge, parts.updates, spec.training, parts.watch, parts.replay)


def make_objective(settings: ObjectiveSettings, penalties: tuple[WeightedPenalty, ...]) -> Objective:
    """Losses, and all that is added to the discriminator's."""
    return Objective(
        loss=registry.build(settings.loss),
        generator_reads_real=settings.loss.generator_reads_real(),
        penalty=(lambda context, step: sum_penalties(penalties, context, step)) if penalties else None,
        regulariser=build_regulariser(settings.regularisers),
        class_weight=settings.class_weight,
    )


def make_engine(spec: Spec, step: GanStep, parts: Parts, nets: tuple[tuple[Net, Net], Net | None]) -> Engine:
    """The engine of a step; `nets`: generator and discriminator, and the averaged generator if there is one."""
    (generator, discriminator), average = nets
    skipping = None
    if spec.training.on_nonfinite == "skip":
        side_states = [*generator.statistics, *discriminator.statistics, *penalty_state(parts.penalties).values()]
        skipping = Skipping(spec.training.skip_budget, side_states)
    after = _after_update(spec, generator, average)
    return Engine(step, parts.progress, after, spec.training.discriminator_steps, spec.training.jit, skipping)


def _histogram(spec: Spec, source: Source) -> list[float] | None:
    if not labels_used(spec) or source.labels is None:
        return None
    counts = np.bincount(source.labels, minlength=len(source.class_names))
    return (counts / counts.sum()).tolist()


def _after_update(spec: Spec, generator: Net, average: Net | None) -> Callable[[Tensor], None]:
    settings = spec.training.ema
    images = spec.data.batch_size * spec.training.discriminator_steps

    def update(step: Tensor) -> None:
        if average is None or settings is None:
            return
        beta = ema_beta(settings, images, step * images)
        own = {key.removeprefix("generator/"): variable for key, variable in generator.variables.items()}
        averaged = {key.removeprefix("ema/"): variable for key, variable in average.variables.items()}
        update_average(averaged, own, {key.removeprefix("generator/") for key in generator.trainable}, beta)

    return update


def state_of(nets: list[Net], parts: Parts) -> dict[str, tf.Variable]:
    """What a checkpoint saves: every variable by its key."""
    state = prefixed("progress", parts.progress.variables) | penalty_state(parts.penalties)
    for role, owner in (("replay", parts.replay), ("health", parts.health)):
        state |= {} if owner is None else prefixed(role, owner.variables)
    for net in nets:
        state |= net.variables
    for update in parts.updates:
        state |= slots_of(update)
    return state


def slots_of(update: Update) -> dict[str, tf.Variable]:
    """What an update has of its own; slots are keyed by their variable: optimizer.generator/stage1/conv/kernel/m."""
    slots = {f"optimizer.{_with_role(update.role, key)}": slot for key, slot in update.optimizer.variables.items()}
    return slots if update.loss_scale is None else slots | prefixed(f"loss_scale.{update.role}", update.loss_scale.variables)


def _with_role(role: str, key: str) -> str:
    return key if key.startswith(role + "/") else f"{role}/{key}"
