"""Fakes of a step: which latents and labels they come from, and which forward moves the generator's statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.training.draws import Draws
from gantrain.training.nets import Net

Batch: TypeAlias = dict[str, Tensor]  # "real" [B,*shape], and "labels" [B] where the objective needs them


@dataclass(frozen=True)
class Portion:
    """What is computed at once: a whole batch, or the `index`-th of its `parts` equal micro-batches."""

    batch: Batch
    index: Tensor | int = 0
    parts: int = 1

    @property
    def real(self) -> Tensor:
        """[b,*shape]."""
        return self.batch["real"]

    @property
    def labels(self) -> Tensor | None:
        """[b], or None."""
        return self.batch.get("labels")

    def part(self, index: Tensor, parts: int) -> Portion:
        """One micro-batch of a whole batch."""
        cut = {key: self._cut(value, index, parts) for key, value in self.batch.items()}
        return Portion(cut, index, parts)

    def mine(self, drawn: Tensor) -> Tensor:
        """The rows of this micro-batch in numbers that were drawn for the whole batch."""
        return drawn if self.parts == 1 else self._cut(drawn, self.index, self.parts)

    @staticmethod
    def _cut(value: Tensor, index: Tensor, parts: int) -> Tensor:
        size = value.shape[0] // parts if value.shape[0] else tf.shape(value)[0] // parts
        part = tf.slice(value, [index * size, *[0] * (len(value.shape) - 1)], [size, *value.shape[1:]])
        return tf.ensure_shape(part, [value.shape[0] // parts if value.shape[0] else None, *value.shape[1:]])


@dataclass(frozen=True)
class Fakes:
    """`images` [b,*shape] and the `labels` [b] asked for, or None."""

    images: Tensor
    labels: Tensor | None


class FakeMaker:
    """Calls the generator on drawn latents. `histogram`: shares of the classes, from which labels are drawn, or None."""

    def __init__(self, generator: Net, draws: Draws, histogram: Sequence[float] | None) -> None:
        self.draws = draws
        self._generator = generator
        self._histogram = histogram

    def make(self, portion: Portion, number: Tensor, stream: str, training: bool) -> Fakes:
        """The forward that serves the generator's own update; in training mode it moves its BatchNorm statistics."""
        count = tf.shape(portion.real)[0] * portion.parts
        latents = portion.mine(self.draws.latents(stream, number, count))
        labels = self.draws.labels(stream, number, count, self._histogram)
        labels = None if labels is None else portion.mine(labels)
        images = self._generator.model(latents, labels, training=training)
        images.set_shape(portion.real.shape)
        return Fakes(images, labels)

    def make_without_trace(self, portion: Portion, number: Tensor, stream: str, training: bool) -> Fakes:
        """Fakes that only the discriminator sees: the generator's state stays."""
        return self._generator.keeping_statistics(lambda: self.make(portion, number, stream, training))
