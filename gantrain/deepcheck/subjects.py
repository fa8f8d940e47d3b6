"""What there is to judge in the built experiment of each task."""

from __future__ import annotations

from functools import cache

import tensorflow as tf

from gantrain import registry
from gantrain.aae_experiment import AaeExperiment
from gantrain.aae_interfaces import EncoderOutput
from gantrain.data.pipeline import Order, batches, data_errors
from gantrain.deepcheck.subject import FEW, Game, Inputs, Shown, Subject
from gantrain.experiment import AnyExperiment, Experiment
from gantrain.history_experiment import HistoryExperiment
from gantrain.interfaces import PriorSettings, Tensor
from gantrain.training.fakes import Batch
from gantrain.training.history import Look
from gantrain.training.history_step import HistoryStep

KEY = (7, 11)  # of the draws that nets are called with


def subject_of(experiment: AnyExperiment, is_real: bool) -> Subject:
    """The experiment on its first batches; `is_real`: these come from the data. Raises DataError for data that cannot be read."""
    if isinstance(experiment, AaeExperiment):
        return _aae(experiment, _first_batches(experiment, experiment.spec.uses_labels), is_real)
    if isinstance(experiment, HistoryExperiment):
        return _history(experiment, _first_batches(experiment, with_labels=False), is_real)
    return _gan(experiment, _first_batches(experiment, experiment.data_labels_used), is_real)


def _first_batches(experiment: AnyExperiment, with_labels: bool) -> tuple[Batch, ...]:
    spec = experiment.spec
    with data_errors(experiment.source):
        iterator = iter(batches(experiment.source, spec.data, Order(spec.seed, 0), 0, with_labels, experiment.transform))
        return tuple(next(iterator) for _ in range(spec.batches_per_step))


def _gan(experiment: Experiment, first: tuple[Batch, ...], is_real: bool) -> Subject:
    spec, batch, net = experiment.spec, first[-1], experiment.generator
    real, labels = batch["real"][:FEW], _labels(batch, FEW)
    latents = _drawn(spec.latent.distribution, len(real), spec.latent.size)

    def fake(training: bool) -> Tensor:
        return net.keeping_statistics(lambda: net.model(latents, labels, training=training))

    def shown() -> dict[str, Shown]:
        seen = experiment.data_facts.network_range
        return {"real": Shown(batch["real"], seen), "fake": Shown(fake(training=True), seen)}

    inputs: dict[str, Inputs] = {"generator": (latents, labels), "discriminator": (real, labels)}
    nets = {item.role: item for item in (net, experiment.discriminator)}
    game = Game(real, labels, lambda: fake(training=False))
    return Subject(experiment, nets, inputs, first, is_real, shown, "generator", game)


def _aae(experiment: AaeExperiment, first: tuple[Batch, ...], is_real: bool) -> Subject:
    spec, batch, (encoder, decoder, _) = experiment.spec, first[-1], experiment.nets.all
    real, labels = batch["real"][:FEW], _labels(batch, FEW)
    draws = _drawn(spec.prior, len(batch["real"]), spec.code_size, _labels(batch, None))
    prior = draws[:FEW]

    def shown() -> dict[str, Shown]:
        seen = experiment.data_facts.network_range
        codes = _codes(encoder.model(batch["real"], training=True))
        rebuilt = decoder.model(codes[:FEW], labels, training=True)
        return {"real": Shown(batch["real"], seen), "rebuilt": Shown(rebuilt, seen), "prior": Shown(draws), "codes": Shown(codes)}

    inputs: dict[str, Inputs] = {"encoder": (real,), "decoder": (prior, labels), "discriminator": (prior, labels)}
    game = Game(prior, labels, lambda: _codes(encoder.model(real, training=False)))
    return Subject(experiment, {net.role: net for net in experiment.nets.all}, inputs, first, is_real, shown, "decoder", game)


def _history(experiment: HistoryExperiment, first: tuple[Batch, ...], is_real: bool) -> Subject:
    step, batch, model = experiment.engine.step, first[-1], experiment.model
    assert isinstance(step, HistoryStep)

    @cache
    def seen() -> tuple[Tensor, Look]:
        return model.keeping_statistics(lambda: step.seen(batch, tf.constant(0, tf.int64)))

    def shown() -> dict[str, Shown]:
        inputs, (outputs, look) = Shown(batch["real"], experiment.data_facts.network_range), seen()
        return {"real": inputs, "outputs": Shown(outputs), "Z": Shown(look.z), "targets": Shown(batch["targets"])}

    def remarks() -> list[str]:
        window, full = experiment.spec.window, int(tf.reduce_sum(tf.cast(seen()[1].full, tf.int32)))
        made = f"Z is the last {window.length} outputs of {window.size} numbers"
        return [f"window: {made}; all {window.length} are there for {full} of the first {len(batch['real'])} examples"]

    return Subject(experiment, {"model": model}, {"model": (batch["real"][:FEW],)}, first, is_real, shown, remarks=remarks)


def _codes(output: EncoderOutput) -> Tensor:
    """[b,Z], by the law of the encoder."""
    if output.log_std is None:
        return output.mean
    return output.mean + tf.exp(output.log_std) * tf.random.stateless_normal(tf.shape(output.mean), KEY, alg="philox")


def _labels(batch: Batch, count: int | None) -> Tensor | None:
    return batch["labels"][:count] if "labels" in batch else None


def _drawn(prior: PriorSettings, count: int, size: int, labels: Tensor | None = None) -> Tensor:
    """[count,size]."""
    by_label = (labels,) if prior.uses_labels() else ()
    return registry.build(prior)(count, size, tf.constant(KEY, tf.int64), *by_label)
