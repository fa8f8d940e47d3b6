"""What is judged, whatever the task: named nets, named updates, one real batch. Checks know nothing else of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import tensorflow as tf

from gantrain.data.pipeline import Order, batches, data_errors
from gantrain.experiment import Experiment
from gantrain.interfaces import Range, Tensor
from gantrain.spec.model import Spec
from gantrain.training.ema import STATISTICS
from gantrain.training.fakes import Batch
from gantrain.training.nets import Net
from gantrain.training.trials import Trial


@dataclass(frozen=True)
class Subject:
    """`state`: every variable a checkpoint saves; `step`: one whole step on batches that are given, compiled at its first call.

    `makers`: nets that are called on latents, with a function (batch) -> the inputs of one training forward.
    """

    spec: Spec
    nets: Mapping[str, Net]
    trials: tuple[Trial, ...]
    state: Mapping[str, tf.Variable]
    step: Callable[[list[Batch]], Tensor]
    batches: tuple[Batch, ...]
    shape: tuple[int, ...]
    data_range: Range | None
    total_steps: int
    images_per_step: int
    is_real: bool  # whether the batches come from the data; False: made up, because it cannot be read

    @property
    def batch(self) -> Batch:
        """The last batch of the step, which every update sees."""
        return self.batches[-1]

    def inputs_of(self, role: str) -> tuple[Tensor, Tensor | None]:
        """What the net of this role is called with: latents for a generator, real examples for a discriminator; labels."""
        labels = self.batch.get("labels")
        if role != "generator":
            return self.batch["real"], labels
        count = tf.shape(self.batch["real"])[0]
        return tf.random.stateless_normal(tf.stack([count, self.spec.latent.size]), (7, 11), alg="philox"), labels


def subject_of(experiment: Experiment, is_real: bool) -> Subject:
    """The experiment of task `gan` as checks see it. Raises DataError for data that cannot be read."""
    spec, order = experiment.spec, Order(experiment.spec.seed, 0)
    with data_errors(experiment.source):
        iterator = iter(batches(experiment.source, spec.data, order, 0, experiment.data_labels_used, experiment.transform))
        first = tuple(next(iterator) for _ in range(spec.training.discriminator_steps))
    return Subject(
        spec=spec,
        nets={net.role: net for net in (experiment.generator, experiment.discriminator)},
        trials=tuple(experiment.step.trials()),
        state=experiment.state,
        step=experiment.engine.once(),
        batches=first,
        shape=experiment.data_facts.shape,
        data_range=experiment.data_facts.network_range,
        total_steps=experiment.total_steps,
        images_per_step=experiment.images_per_step,
        is_real=is_real,
    )


def statistics(net: Net) -> dict[str, tf.Variable]:
    """Moving means and variances of a net, by key."""
    return {key: variable for key, variable in net.variables.items() if key.endswith(STATISTICS)}


@contextmanager
def restored(variables: Mapping[str, tf.Variable]) -> Iterator[dict[str, Tensor]]:
    """Whatever moves inside is put back; gives the values from before."""
    before = {key: tf.identity(variable) for key, variable in variables.items()}
    try:
        yield before
    finally:
        for key, variable in variables.items():
            variable.assign(before[key])


def moved(variables: Mapping[str, tf.Variable], before: Mapping[str, Tensor]) -> list[str]:
    """Keys of the variables whose bytes are not those of `before`."""
    return [key for key, variable in variables.items() if variable.numpy().tobytes() != before[key].numpy().tobytes()]
