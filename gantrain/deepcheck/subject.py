"""What is judged, whatever the task: named nets, named updates, one real batch. Checks know nothing else of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import tensorflow as tf

from gantrain.experiment import AnyExperiment
from gantrain.interfaces import Range, Tensor
from gantrain.spec.tasks import AnySpec
from gantrain.training.ema import STATISTICS
from gantrain.training.fakes import Batch
from gantrain.training.nets import Net
from gantrain.training.trials import Trial

FEW = 8  # examples of a batch by which nets and updates are judged; the whole step sees all of it
Inputs: TypeAlias = tuple[Tensor | None, ...]  # positional arguments of a net


class Shown(NamedTuple):
    """Values [B,...] of the first batch, and the range that they should have (None: any)."""

    values: Tensor
    range: Range | None = None


@dataclass(frozen=True)
class Game:
    """What the discriminator tells apart: `real` [b,...] with its `labels` [b], and `fake` () -> [b,...]."""

    real: Tensor
    labels: Tensor | None
    fake: Callable[[], Tensor]


@dataclass(frozen=True)
class Subject:
    """A built experiment as checks see it, on the `batches` of its first step.

    `inputs`: what each net is called with, of FEW examples. `maker`: the net whose outputs are to be like the data's examples;
    `game`: None without a discriminator. `shown`: what to put side by side, by name. `remarks`: lines to read besides.
    """

    experiment: AnyExperiment
    nets: Mapping[str, Net]
    inputs: Mapping[str, Inputs]
    batches: tuple[Batch, ...]
    is_real: bool  # whether the batches come from the data; False: made up, because it cannot be read
    shown: Callable[[], dict[str, Shown]]
    maker: str | None = None
    game: Game | None = None
    remarks: Callable[[], list[str]] = list

    @property
    def spec(self) -> AnySpec:
        """Of the experiment."""
        return self.experiment.spec

    @property
    def state(self) -> Mapping[str, tf.Variable]:
        """Every variable that a checkpoint saves."""
        return self.experiment.state

    @property
    def data_range(self) -> Range | None:
        """What the networks see."""
        return self.experiment.data_facts.network_range

    @cached_property
    def trials(self) -> list[Trial]:
        """The updates of a step, each by itself."""
        return self.experiment.engine.step.trials()

    @property
    def few(self) -> Batch:
        """FEW examples of the last batch of the step, which every update sees."""
        return {key: value[:FEW] for key, value in self.batches[-1].items()}


def role_of(key: str) -> str:
    """`generator` of `generator/stage1/conv/kernel`."""
    return key.split("/", 1)[0]


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
