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
from gantrain.interfaces import NetContext, Source, SourceFacts, Tensor
from gantrain.keys import short_seed
from gantrain.manifest import DataFacts
from gantrain.objectives.penalties import build_penalties, sum_penalties
from gantrain.sampling import Sampler
from gantrain.spec.arithmetic import total_steps
from gantrain.spec.model import Spec
from gantrain.state import prefixed
from gantrain.training.draws import Draws
from gantrain.training.ema import ema_beta, update_average
from gantrain.training.engine import Engine
from gantrain.training.gan import FACTS, GanStep, Objective
from gantrain.training.nets import Net, own_parameters
from gantrain.training.progress import Progress
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
    engine: Engine
    sampler: Sampler
    state: dict[str, tf.Variable]
    total_steps: int

    @property
    def images_per_step(self) -> int:
        """Real images consumed by one step."""
        return self.spec.data.batch_size * self.spec.training.discriminator_steps

    def start_data(self) -> None:
        """Give the engine the batches that come at the current step."""
        order = Order(self.spec.seed, int(self.progress.attempt.numpy()))
        first = int(self.progress.step.numpy()) * self.spec.training.discriminator_steps
        with_labels = self.data_labels_used
        self.engine.start(iter(batches(self.source, self.spec.data, order, first, with_labels, self.transform)))

    @property
    def data_labels_used(self) -> bool:
        """Whether a net reads labels."""
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
        generator = build_net(spec, "generator", data_facts)
        discriminator = build_net(spec, "discriminator", data_facts)
        average = build_net(spec, "generator", data_facts, role="ema") if spec.training.ema else None
        own_parameters([generator, discriminator])
        check_outputs(generator, discriminator, data_facts.shape, spec.latent.size, _num_classes(spec, data_facts))
        updates = (_update(spec, generator), _update(spec, discriminator))
        progress = Progress(FACTS)
        step = _step(spec, source, (generator, discriminator), updates, attempt)
        after = _after_update(spec, generator, average)
        engine = Engine(step, progress, after, spec.training.discriminator_steps, spec.training.jit)
    nets = [generator, discriminator, *([average] if average else [])]
    return Experiment(
        spec=spec,
        source=source,
        transform=RangeTransform(data_facts.source_range, data_facts.network_range),
        data_facts=data_facts,
        generator=generator,
        discriminator=discriminator,
        average=average,
        progress=progress,
        engine=engine,
        sampler=build_sampler(spec, (average or generator).model, data_facts),
        state=_state(nets, updates, progress),
        total_steps=total_steps(spec, source.length),
    )


def describe_data(spec: Spec, source: Source) -> DataFacts:
    """What nets and samples need of the data; stored in each checkpoint."""
    return DataFacts(
        shape=tuple(source.shape),
        dtype=source.load(np.zeros(1, np.int64)).dtype.name,
        source_range=source.value_range,
        network_range=spec.data.range,
        class_names=tuple(source.class_names),
        fingerprint=source.fingerprint(),
        table=getattr(source, "table", None),
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


def _update(spec: Spec, net: Net) -> Update:
    settings = getattr(spec.optimizers, net.role)
    optimizer = registry.build(settings, net.trainable)
    return Update(net.role, net.trainable, optimizer, settings.learning_rate, spec.training.clip_norm)


def _step(spec: Spec, source: Source, nets: tuple[Net, Net], updates: tuple[Update, Update], attempt: int) -> GanStep:
    penalties = build_penalties(spec.objective.penalties)
    objective = Objective(
        loss=registry.build(spec.objective.loss),
        generator_reads_real=spec.objective.loss.generator_reads_real(),
        penalty=(lambda context, step: sum_penalties(penalties, context, step)) if penalties else None,
    )
    draws = Draws(registry.build(spec.latent.distribution), spec.latent.size, spec.seed, attempt)
    return GanStep(nets, updates, objective, draws, spec.training, _histogram(spec, source))


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


def _state(nets: list[Net], updates: tuple[Update, Update], progress: Progress) -> dict[str, tf.Variable]:
    state = prefixed("progress", progress.variables)
    for net in nets:
        state |= net.variables
    for update in updates:
        # slots are keyed by their variable: optimizer.generator/stage1/conv/kernel/m
        state |= {f"optimizer.{_with_role(update.role, key)}": slot for key, slot in update.optimizer.variables.items()}
    return state


def _with_role(role: str, key: str) -> str:
    return key if key.startswith(role + "/") else f"{role}/{key}"
