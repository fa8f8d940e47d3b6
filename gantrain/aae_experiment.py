"""Composition root of task `aae`: its spec becomes three nets, optimizers, step, data and state."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

from gantrain import registry
from gantrain.coding import Coder
from gantrain.data.held_out import HeldOut
from gantrain.data.pipeline import Order, batches
from gantrain.data.transforms import RangeTransform
from gantrain.evaluation.code_mmd import CODES, CodeScore
from gantrain.interfaces import NetContext, Source
from gantrain.keys import short_seed, stream_key
from gantrain.manifest import DataFacts
from gantrain.pictures import Pictures, spread
from gantrain.sampling import BLOCK, Sampler
from gantrain.spec.aae import HELD_OUT_SCORE, AaeSpec
from gantrain.spec.arithmetic import total_steps
from gantrain.training.aae_assembly import AaeNets, aae_state, make_aae_engine, make_aae_parts, make_aae_step
from gantrain.training.aae_wiring import check_aae
from gantrain.training.draws import Draws
from gantrain.training.engine import Engine
from gantrain.training.nets import Net, own_parameters
from gantrain.training.progress import Progress
from gantrain.training.wiring import built, check_plugins


@dataclass(frozen=True)
class AaeExperiment:
    """Everything a run needs, built but not started. `state` is what a checkpoint saves, key -> variable."""

    spec: AaeSpec
    source: Source
    transform: RangeTransform
    data_facts: DataFacts
    nets: AaeNets
    progress: Progress
    draws: Draws
    engine: Engine
    sampler: Sampler
    coder: Coder
    code_score: CodeScore
    state: dict[str, tf.Variable]
    total_steps: int
    held_out: HeldOut | None = None  # examples that are scored, but never trained on
    health: None = None  # accuracy/discriminator and eval/code_mmd tell how the game goes
    stops_when_unhealthy: bool = False

    @property
    def images_per_step(self) -> int:
        """Examples consumed by one step."""
        return self.spec.data.batch_size

    def start_data(self) -> None:
        """Give the engine the batches that come at the current step, and the attempt that is part of every random key."""
        self.draws.attempt = int(self.progress.attempt.numpy())
        order, first = Order(self.spec.seed, self.draws.attempt), int(self.progress.step.numpy())
        dataset = batches(self.source, self.spec.data, order, first, self.spec.uses_labels, self.transform)
        self.engine.start(iter(dataset))

    def score(self) -> dict[str, float]:
        """Over 2,000 examples of the data: mean squared error of the reconstructions, and how far codes are from the prior.

        The error is in units of the range: that of values in [0, 1] for pictures, of the values as they are without a range.
        The same error over examples held out, where there are any. Raises DataError for one of these that cannot be read.
        """
        examples, labels = self._examples(spread(self.source.length, CODES))
        errors = {"eval/reconstruction_mse": self._error(examples, labels)}
        if self.held_out is not None:
            errors[HELD_OUT_SCORE] = self._error(*_examples_held_out(self.held_out, self.transform, self.spec))
        return errors | self.code_score.of(self.coder.draw_codes(examples, self.spec.seed))

    def _error(self, examples: np.ndarray, labels: np.ndarray | None) -> float:
        seen = self.transform.target or self.transform.source
        width = 1.0 if seen is None else seen[1] - seen[0]
        return float(np.mean(np.square((self.coder.rebuild(examples, labels) - examples) / width)))

    def describe(self) -> str:
        """The nets and what they are trained with, in one line."""
        spec, objective = self.spec, self.spec.objective
        nets = ", ".join(f"{net.role} {_size(spec, net)}" for net in self.nets.all)
        prior, loss = registry.row_of(spec.prior).name, registry.row_of(objective.loss).name
        return f"{nets}, {spec.encoder.law} codes of {spec.code_size}, prior {prior}, {objective.reconstruction}, loss {loss}"

    def how_to_use(self, run: object) -> str:
        """What to do with a finished run."""
        return f"decode prior draws: gantrain sample {run}; codes: gantrain sample {run} --encode PATH --as npz"

    def drawings(self, pictures: Pictures) -> dict[str, np.ndarray]:
        """Decoded prior draws, and examples of the data beside their reconstructions; {} for data that has no picture."""
        if not pictures.drawable:
            return {}
        count = self.spec.output.sample_count
        examples, labels = self._examples(spread(self.source.length, count))
        beside = pictures.beside(examples, self.coder.rebuild(examples, labels))
        decoded = self.sampler.draw(self.spec.seed, count)
        return {"": pictures.picture(decoded, classes=self.sampler.num_classes), "-reconstructions": beside}

    def _examples(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Examples as the networks see them, and their labels where these are used."""
        examples = self.transform.forward(tf.constant(self.source.load(indices))).numpy()
        return examples, self.source.labels[indices] if self.spec.uses_labels and self.source.labels is not None else None


def _examples_held_out(held_out: HeldOut, transform: RangeTransform, spec: AaeSpec) -> tuple[np.ndarray, np.ndarray | None]:
    """As the networks see them, and their labels where the decoder reads them."""
    indices = spread(held_out.length, CODES)
    labels = held_out.labels(indices) if spec.decoder.uses_labels() else None
    return transform.forward(tf.constant(held_out.load(indices))).numpy(), labels


def _size(spec: AaeSpec, net: Net) -> str:
    count = sum(int(tf.size(variable)) for variable in net.trainable.values())
    return f"{registry.row_of(getattr(spec, net.role)).name} {count:,} parameters"


def build_aae(spec: AaeSpec, source: Source, held_out: HeldOut | None = None) -> AaeExperiment:
    """Build nets, optimizers, step and state for data of `source`. Raises UsageError, DataError."""
    data = DataFacts.of(source, spec.data.range)
    if held_out is not None and spec.decoder.uses_labels():
        held_out.labels(np.arange(0))  # missing ones are found now, not at the first score
    with tf.distribute.get_strategy().scope():
        nets = AaeNets(*(build_aae_net(spec, role, data) for role in ("encoder", "decoder", "discriminator")))
        own_parameters(nets.all)
        check_aae(spec, nets, data.shape, num_classes(spec, data))
        check_plugins(
            spec.objective, (spec.prior, spec.code_size), nets.discriminator, (spec.code_size,), num_classes(spec, data)
        )
        draws = Draws(registry.build(spec.prior), spec.code_size, spec.seed, 0)
        parts = make_aae_parts(spec, nets)
        engine = make_aae_engine(spec, make_aae_step(spec, nets, parts, draws), nets, parts)
    return AaeExperiment(
        spec=spec,
        source=source,
        transform=RangeTransform(data.source_range, data.network_range),
        data_facts=data,
        nets=nets,
        progress=parts.progress,
        draws=draws,
        engine=engine,
        sampler=build_aae_sampler(spec, nets.decoder.model, data),
        coder=Coder(nets.encoder.model, nets.decoder.model),
        code_score=CodeScore(_prior_draws(spec, source)),
        state=aae_state(nets, parts),
        total_steps=total_steps(spec, source.length),
        held_out=held_out,
    )


def build_aae_net(spec: AaeSpec, role: str, data: DataFacts) -> Net:
    """The encoder, decoder or discriminator of a spec; its weights depend only on (seed, role)."""
    judges_codes = role == "discriminator"
    context = NetContext(
        shape=(spec.code_size,) if judges_codes else data.shape,
        latent_size=spec.code_size,
        num_classes=num_classes(spec, data),
        data_range=None if judges_codes else data.network_range,
        dtype=spec.training.precision,
    )
    keras.utils.set_random_seed(short_seed(spec.seed, f"init/{role}"))
    return built(role, lambda: registry.build(getattr(spec, role), context))


def build_aae_sampler(spec: AaeSpec, decoder: keras.Model, data: DataFacts, batch_size: int = BLOCK) -> Sampler:
    """Decodes prior draws."""
    by_label = spec.prior.uses_labels()
    classes = len(data.class_names) if by_label or spec.decoder.uses_labels() else None
    return Sampler(decoder, registry.build(spec.prior), spec.code_size, classes, batch_size, by_label)


def num_classes(spec: AaeSpec, data: DataFacts) -> int | None:
    """Classes that are used, or None."""
    return (len(data.class_names) or None) if spec.uses_labels else None


def _prior_draws(spec: AaeSpec, source: Source) -> Callable[[int], np.ndarray]:
    """As many draws as there are codes to compare; of a prior by label with the labels of those examples."""
    prior, indices = registry.build(spec.prior), spread(source.length, CODES)
    more = (tf.constant(source.labels[indices]),) if spec.prior.uses_labels() and source.labels is not None else ()

    @functools.cache
    def draw(number: int) -> np.ndarray:
        key = tf.constant([stream_key(spec.seed, "code_mmd"), number], tf.int64)
        return prior(len(indices), spec.code_size, key, *more).numpy()

    return draw
