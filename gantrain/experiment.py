"""Composition root: a spec becomes nets, optimizers, step, data and state. The one place where the rooms meet."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import keras
import numpy as np
import tensorflow as tf

from gantrain import registry
from gantrain.aae_experiment import AaeExperiment, build_aae
from gantrain.data.held_out import WHERE, HeldOut
from gantrain.data.pipeline import Order, batches
from gantrain.data.source_facts import facts_of
from gantrain.data.transforms import RangeTransform
from gantrain.errors import DataError
from gantrain.evaluation.scores import SAMPLES, score_for
from gantrain.history_experiment import HistoryExperiment, build_history
from gantrain.interfaces import NetContext, Source, SourceFacts
from gantrain.keys import short_seed
from gantrain.manifest import DataFacts, check_shape
from gantrain.pictures import Pictures
from gantrain.registry import row_of
from gantrain.sampling import BLOCK, Sampler
from gantrain.spec.aae import AaeSpec
from gantrain.spec.arithmetic import total_steps
from gantrain.spec.history import HistorySpec
from gantrain.spec.model import Spec
from gantrain.spec.tasks import AnySpec
from gantrain.training.assembly import labels_used, make_engine, make_parts, make_step, state_of
from gantrain.training.draws import Draws
from gantrain.training.engine import Engine
from gantrain.training.events import RunEvents
from gantrain.training.health import Health
from gantrain.training.loop import Watchman
from gantrain.training.memory import require
from gantrain.training.nets import Net, own_parameters
from gantrain.training.progress import Progress
from gantrain.training.recovery import Rollback
from gantrain.training.wiring import built, check_outputs, check_plugins


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

    @property
    def stops_when_unhealthy(self) -> bool:
        """Whether a sign of collapse ends the run."""
        return self.spec.training.health == "stop"

    def describe(self) -> str:
        """The nets and what they are trained with, in one line."""
        training, loss = self.spec.training, row_of(self.spec.objective.loss).name
        nets = ", ".join(f"{net.role} {_size(self.spec, net)}" for net in (self.generator, self.discriminator))
        return f"{nets}, loss {loss}, {training.updates} updates, {training.fakes} fakes"

    def how_to_use(self, run: object) -> str:
        """What to do with a finished run."""
        return f"draw from it: gantrain sample {run}"

    def drawings(self, pictures: Pictures) -> dict[str, np.ndarray]:
        """Pictures to write now, by the end of their names, uint8 [H,W,c]: the fixed latents; {} for data that has no picture."""
        if not pictures.drawable:
            return {}
        outputs = self.sampler.draw(self.spec.seed, self.spec.output.sample_count)
        return {"": pictures.picture(outputs, classes=self.sampler.num_classes)}


def _size(spec: Spec, net: Net) -> str:
    count = sum(int(tf.size(variable)) for variable in net.trainable.values())
    return f"{row_of(getattr(spec, net.role)).name} {count:,} parameters"


AnyExperiment: TypeAlias = Experiment | AaeExperiment | HistoryExperiment


def open_source(spec: AnySpec, base_dir: Path) -> tuple[Source, SourceFacts]:
    """The data source and its full facts. Raises DataError."""
    source: Source = registry.build(spec.data.source, base_dir)
    return source, facts_of(source)


def open_held_out(spec: AnySpec, source: Source, base_dir: Path) -> HeldOut | None:
    """The examples that are scored but never trained on, if the spec names any. Raises DataError."""
    settings = spec.data.held_out if isinstance(spec, AaeSpec) else None
    if settings is None:
        return None
    try:
        return HeldOut(registry.build(settings, base_dir), source)
    except DataError as error:  # sources speak of the place where most of them stand
        raise DataError(str(error).replace("data.source.", f"{WHERE}.")) from error


def build_any(spec: AnySpec, source: Source, held_out: HeldOut | None = None) -> AnyExperiment:
    """The experiment of a spec's task. Raises UsageError, DataError for examples larger than any net takes."""
    _check_size(spec.data.batch_size, source.shape)
    if isinstance(spec, AaeSpec):
        return build_aae(spec, source, held_out)
    return build_history(spec, source) if isinstance(spec, HistorySpec) else build(spec, source)


def _check_size(batch: int, shape: tuple[int, ...]) -> None:
    """What any net needs at least. Raises DataError, UsageError."""
    try:
        check_shape(shape)
    except ValueError as error:
        raise DataError(f"data.source: {error}; make the examples smaller") from None
    require(2 * 4 * batch * math.prod(shape), f"a batch of {batch:,} examples {list(shape)} with as many fakes")


def build(spec: Spec, source: Source, attempt: int = 0) -> Experiment:
    """Build nets, optimizers, step and state for data of `source`, under the current `tf.distribute` strategy.

    Raises UsageError for nets that cannot be trained as wired, and for plugins that give what they must not.
    """
    data_facts = DataFacts.of(source, spec.data.range)
    num_classes = _num_classes(spec, data_facts)
    with tf.distribute.get_strategy().scope():
        nets = build_net(spec, "generator", data_facts), build_net(spec, "discriminator", data_facts)
        average = build_net(spec, "generator", data_facts, role="ema") if spec.training.ema else None
        own_parameters([*nets])
        check_outputs(*nets, data_facts.shape, spec.latent.size, num_classes)
        check_plugins(spec.objective, (spec.latent.distribution, spec.latent.size), nets[1], data_facts.shape, num_classes)
        draws = Draws(registry.build(spec.latent.distribution), spec.latent.size, spec.seed, attempt)
        parts = make_parts(spec, data_facts, nets)
        step = make_step(spec, source, nets, parts, draws)
        engine = make_engine(spec, step, parts, (nets, average))
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
        state=state_of([*nets, *([average] if average else [])], parts),
        total_steps=total_steps(spec, source.length),
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


def build_sampler(spec: Spec, generator: keras.Model, data: DataFacts, batch_size: int = BLOCK) -> Sampler:
    """Draws pictures from a generator of this spec."""
    num_classes = len(data.class_names) if spec.generator.uses_labels() else None
    prior = registry.build(spec.latent.distribution)
    return Sampler(generator, prior, spec.latent.size, num_classes, batch_size)


def watch_over(experiment: AnyExperiment, events: RunEvents, warn: Callable[[str], None]) -> Watchman:
    """What the loop does when this experiment's run goes wrong, as its spec says."""
    training, recover = experiment.spec.training, None
    if training.on_nonfinite == "rollback":
        recover = Rollback(
            run=events.run,
            progress=experiment.progress,
            state=experiment.state,
            budget=training.rollback_budget,
            save=events.saver.rewrite,
            restart=experiment.start_data,
            warn=warn,
            settle=events.settle,
        )
    return Watchman(warn, experiment.health, experiment.stops_when_unhealthy, recover)
