"""Composition root: a spec becomes nets, optimizers, step, data and state. The one place where the rooms meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from gantrain import registry
from gantrain.data.pipeline import Order, batches
from gantrain.data.transforms import RangeTransform
from gantrain.evaluation.scores import SAMPLES, score_for
from gantrain.interfaces import NetContext, ScheduleSettings, Source, SourceFacts, Tensor
from gantrain.keys import short_seed
from gantrain.manifest import DataFacts
from gantrain.objectives.penalties import WeightedPenalty, build_penalties, build_regulariser, penalty_state, sum_penalties
from gantrain.sampling import Sampler
from gantrain.spec.arithmetic import total_steps
from gantrain.spec.model import Spec
from gantrain.state import prefixed
from gantrain.training.draws import Draws
from gantrain.training.ema import ema_beta, update_average
from gantrain.training.engine import Engine, Skipping
from gantrain.training.events import RunEvents
from gantrain.training.facts import Watch, names
from gantrain.training.fakes import FakeMaker
from gantrain.training.gan import GanStep
from gantrain.training.health import Health
from gantrain.training.judging import Judge, Objective
from gantrain.training.loop import Watchman
from gantrain.training.loss_scale import LossScale
from gantrain.training.nets import Net, own_parameters
from gantrain.training.progress import Progress
from gantrain.training.recovery import Rollback
from gantrain.training.replay import ReplayBuffer
from gantrain.training.update import Update
from gantrain.training.wiring import built, check_outputs


@dataclass(frozen=True)
class Experiment:
    """Everything a run needs, built but not started. `state` is what a checkpoint saves, key -> variable."""

    spec: Spec
    source: Source
    transform: RangeTransform
    data_facts: DataFacts
    generator: Net
    discriminator: Net
    average: Net | None
    progress: Progress
    health: Health | None
    draws: Draws
    engine: Engine
    sampler: Sampler
    state: dict[str, tf.Variable]
    total_steps: int

    @property
    def images_per_step(self) -> int:
        """Real images consumed by one step."""
        return self.spec.data.batch_size * self.spec.training.discriminator_steps

    def start_data(self) -> None:
        """Give the engine the batches that come at the current step, and the attempt that is part of every random key."""
        self.draws.attempt = int(self.progress.attempt.numpy())
        order = Order(self.spec.seed, self.draws.attempt)
        first = int(self.progress.step.numpy()) * self.spec.training.discriminator_steps
        with_labels = self.data_labels_used
        self.engine.start(iter(batches(self.source, self.spec.data, order, first, with_labels, self.transform)))

    def score(self) -> dict[str, float]:
        """Scores of 10,000 samples of the averaged generator, by name; none for data that has no score."""
        function = score_for(self.spec.data.source)
        if function is None:
            return {}
        outputs = self.sampler.draw(self.spec.seed, SAMPLES)
        return function(self.transform.inverse(outputs))

    @property
    def data_labels_used(self) -> bool:
        """Whether a net needs labels."""
        return labels_used(self.spec)


def labels_used(spec: Spec) -> bool:
    """Whether either net reads labels."""
    return spec.generator.uses_labels() or spec.discriminator.uses_labels()


def open_source(spec: Spec, base_dir: Path) -> tuple[Source, SourceFacts]:
    """The data source and its full facts. Raises DataError."""
    source: Source = registry.build(spec.data.source, base_dir)
    num_classes = None if source.labels is None else len(source.class_names)
    return source, SourceFacts(tuple(source.shape), source.length, num_classes)


def build(spec: Spec, source: Source, attempt: int = 0) -> Experiment:
    """Build nets, optimizers, step and state for data of `source`, under the current `tf.distribute` strategy.

    Raises UsageError for nets that cannot be trained as wired.
    """
    data_facts = describe_data(spec, source)
    with tf.distribute.get_strategy().scope():
        nets = build_net(spec, "generator", data_facts), build_net(spec, "discriminator", data_facts)
        average = build_net(spec, "generator", data_facts, role="ema") if spec.training.ema else None
        own_parameters([*nets])
        check_outputs(*nets, data_facts.shape, spec.latent.size, _num_classes(spec, data_facts))
        draws = Draws(registry.build(spec.latent.distribution), spec.latent.size, spec.seed, attempt)
        parts = _parts(spec, data_facts, nets)
        step = _step(spec, source, nets, parts, draws)
        engine = _engine(spec, step, parts, (nets, average))
    return Experiment(
        spec=spec,
        source=source,
        transform=RangeTransform(data_facts.source_range, data_facts.network_range),
        data_facts=data_facts,
        generator=nets[0],
        discriminator=nets[1],
        average=average,
        progress=parts.progress,
        health=parts.health,
        draws=draws,
        engine=engine,
        sampler=build_sampler(spec, (average or nets[0]).model, data_facts),
        state=_state([*nets, *([average] if average else [])], parts),
        total_steps=total_steps(spec, source.length),
    )


def describe_data(spec: Spec, source: Source) -> DataFacts:
    """What nets and samples need of the data; stored in each checkpoint."""
    return DataFacts(
        shape=tuple(source.shape),
        source_range=source.value_range,
        network_range=spec.data.range,
        class_names=tuple(source.class_names),
        fingerprint=source.fingerprint(),
    )


def build_net(spec: Spec, name: str, data: DataFacts, role: str | None = None) -> Net:
    """The generator or discriminator of a spec; its weights depend only on (seed, name). `role` is its part in the state."""
    context = NetContext(
        shape=data.shape,
        latent_size=spec.latent.size,
        num_classes=_num_classes(spec, data),
        data_range=data.network_range,
        dtype=spec.training.precision,
    )
    keras.utils.set_random_seed(short_seed(spec.seed, f"init/{name}"))
    return built(role or name, lambda: registry.build(getattr(spec, name), context))


def _num_classes(spec: Spec, data: DataFacts) -> int | None:
    return (len(data.class_names) or None) if labels_used(spec) else None


def build_sampler(spec: Spec, generator: keras.Model, data: DataFacts, batch_size: int | None = None) -> Sampler:
    """Draws pictures from a generator of this spec."""
    num_classes = len(data.class_names) if spec.generator.uses_labels() else None
    prior = registry.build(spec.latent.distribution)
    sizes = {} if batch_size is None else {"batch_size": batch_size}
    return Sampler(generator, prior, spec.latent.size, num_classes, **sizes)


@dataclass(frozen=True)
class _Parts:
    """What a step is made of besides the nets, and what of it has state."""

    updates: tuple[Update, Update]
    progress: Progress
    penalties: tuple[WeightedPenalty, ...]
    replay: ReplayBuffer | None
    watch: Watch | None
    health: Health | None


def _parts(spec: Spec, data: DataFacts, nets: tuple[Net, Net]) -> _Parts:
    boundary, data_range = spec.objective.loss.boundary(), data.network_range
    watch = None if spec.training.health == "off" else Watch(boundary, data_range)
    health = None if spec.training.health == "off" else Health(boundary is not None)
    progress = Progress(names(watch), skips=spec.training.on_nonfinite == "skip")
    replay = None
    if spec.replay is not None:
        replay = ReplayBuffer(spec.replay, data.shape, with_labels=labels_used(spec))
    updates = (_update(spec, nets[0], progress), _update(spec, nets[1], progress))
    return _Parts(updates, progress, build_penalties(spec.objective.penalties), replay, watch, health)


def _update(spec: Spec, net: Net, progress: Progress) -> Update:
    settings = getattr(spec.optimizers, net.role)
    constraints = spec.objective.constraints if net.role == "discriminator" else ()
    return Update(
        net.role,
        net.trainable,
        registry.build(settings, net.trainable),
        _rate(spec, settings.learning_rate, progress),
        spec.training.clip_norm,
        tuple(registry.build(item) for item in constraints),
        LossScale() if spec.training.precision == "mixed_float16" else None,
    )


def _rate(spec: Spec, settings: float | ScheduleSettings, progress: Progress) -> float | Callable[[], Tensor]:
    """A number as it is; a schedule as a function of the images seen before the current step."""
    if not isinstance(settings, ScheduleSettings):
        return settings
    schedule, images = registry.build(settings), spec.data.batch_size * spec.training.discriminator_steps
    return lambda: schedule(tf.cast(progress.step.read_value() * images, tf.float32))


def _step(spec: Spec, source: Source, nets: tuple[Net, Net], parts: _Parts, draws: Draws) -> GanStep:
    judge = Judge(nets[1], parts.updates[1], _objective(spec, parts.penalties), draws.key)
    maker = FakeMaker(nets[0], draws, _histogram(spec, source))
    return GanStep(maker, judge, parts.updates, spec.training, parts.watch, parts.replay)


def _objective(spec: Spec, penalties: tuple[WeightedPenalty, ...]) -> Objective:
    settings = spec.objective
    return Objective(
        loss=registry.build(settings.loss),
        generator_reads_real=settings.loss.generator_reads_real(),
        penalty=(lambda context, step: sum_penalties(penalties, context, step)) if penalties else None,
        regulariser=build_regulariser(settings.regularisers),
        class_weight=settings.class_weight,
    )


def _engine(spec: Spec, step: GanStep, parts: _Parts, nets: tuple[tuple[Net, Net], Net | None]) -> Engine:
    (generator, discriminator), average = nets
    skipping = None
    if spec.training.on_nonfinite == "skip":
        side_states = [*generator.statistics, *discriminator.statistics, *penalty_state(parts.penalties).values()]
        skipping = Skipping(spec.training.skip_budget, side_states)
    after = _after_update(spec, generator, average)
    return Engine(step, parts.progress, after, spec.training.discriminator_steps, spec.training.jit, skipping)


def watch_over(experiment: Experiment, events: RunEvents, warn: Callable[[str], None]) -> Watchman:
    """What the loop does when this experiment's run goes wrong, as its spec says."""
    training, recover = experiment.spec.training, None
    if training.on_nonfinite == "rollback":
        recover = Rollback(
            run=events.run,
            progress=experiment.progress,
            state=experiment.state,
            budget=training.rollback_budget,
            save=events.checkpoint,
            restart=experiment.start_data,
            warn=warn,
        )
    return Watchman(warn, experiment.health, training.health == "stop", recover)


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


def _state(nets: list[Net], parts: _Parts) -> dict[str, tf.Variable]:
    state = prefixed("progress", parts.progress.variables) | penalty_state(parts.penalties)
    for role, owner in (("replay", parts.replay), ("health", parts.health)):
        state |= {} if owner is None else prefixed(role, owner.variables)
    for net in nets:
        state |= net.variables
    for update in parts.updates:
        # slots are keyed by their variable: optimizer.generator/stage1/conv/kernel/m
        state |= {f"optimizer.{_with_role(update.role, key)}": slot for key, slot in update.optimizer.variables.items()}
        if update.loss_scale is not None:
            state |= prefixed(f"loss_scale.{update.role}", update.loss_scale.variables)
    return state


def _with_role(role: str, key: str) -> str:
    return key if key.startswith(role + "/") else f"{role}/{key}"
