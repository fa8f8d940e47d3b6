"""What all generators and all discriminators share: labels, the last activation, the logit, creating the variables at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from gantrain.errors import UsageError
from gantrain.interfaces import DiscriminatorOutput, NetContext, Tensor
from gantrain.models.catalog import CommonDiscriminator, CommonGenerator
from gantrain.models.layers import weights
from gantrain.models.spectral import spectral


class Generator(keras.Model):
    """Called as (latents [B,Z], labels [B] or None, training) -> examples [B,*shape] float32. Subclasses write `draw`."""

    def __init__(self, settings: CommonGenerator, context: NetContext) -> None:
        super().__init__(name="generator", dtype=context.dtype)
        self.context = context
        self.activation: Callable[[Tensor], Tensor] = keras.activations.get(settings.last_activation(context.data_range))
        self.classes = None
        self.conditional = settings.uses_labels()
        if self.conditional:
            require_classes(context)
        if settings.conditioning == "embedding":
            self.classes = ClassVectors(context, settings.embedding_size, weights(1.0))

    def draw(self, x: Tensor, training: bool, labels: Tensor | None) -> Tensor:
        """Latents, with the class vector appended if there is one, [B,n] -> examples before the last activation, float32.

        `labels` [B] are those of conditional layers inside; None if there are none.
        """
        raise NotImplementedError

    def call(self, latents: Tensor, labels: Tensor | None = None, training: bool = False) -> Tensor:
        """One example per row of latents."""
        labels = _present(labels, self.name) if self.conditional else None
        x = latents if self.classes is None else tf.concat([latents, self.classes(labels)], axis=-1)
        examples = self.activation(self.draw(x, training, labels))
        return tf.reshape(examples, [-1, *self.context.shape])


class Discriminator(keras.Model):
    """Called as (x [B,*shape], labels [B] or None, training) -> DiscriminatorOutput. Subclasses write `extract`."""

    def __init__(self, settings: CommonDiscriminator, context: NetContext, feature_size: int) -> None:
        """`feature_size`: channels of what `extract` returns."""
        super().__init__(name="discriminator", dtype=context.dtype)
        self.context = context
        self.conditioning = settings.conditioning
        self.classes = self.class_head = None
        if settings.uses_labels():
            require_classes(context)
        if settings.conditioning == "projection":
            self.classes = ClassVectors(context, feature_size, weights(settings.initial_std), settings.spectral())
        if settings.conditioning == "concat":
            self.classes = ClassVectors(context, math.prod(context.shape[:2]), weights(1.0))
        if settings.conditioning == "auxiliary":
            self.class_head = self._head("class_head", context.num_classes or 0, settings)
        self.is_spectral = settings.spectral()
        self.head = self._head("head", 1, settings)

    def _head(self, name: str, outputs: int, settings: CommonDiscriminator) -> keras.layers.Layer:
        kernel, bias = weights(settings.initial_std), settings.head_bias()
        dense = keras.layers.Dense(outputs, use_bias=bias, kernel_initializer=kernel, name=name, dtype="float32")
        return spectral(dense, settings.spectral(), "float32")

    def extract(self, x: Tensor, training: bool) -> Tensor:
        """Examples [B,*shape] -> features [B,...,feature_size]."""
        raise NotImplementedError

    def call(self, x: Tensor, labels: Tensor | None = None, training: bool = False) -> DiscriminatorOutput:
        """One logit per example."""
        vectors = None if self.classes is None else self.classes(_present(labels, self.name), training=training)
        if self.conditioning == "concat":
            x = tf.concat([x, self._beside(vectors)], axis=-1)
        features = self.extract(x, training)
        flat = _flatten(features)
        logits = tf.squeeze(self._apply(self.head, flat, training), axis=1)
        if self.conditioning == "projection":
            logits += _project(vectors, features)
        return DiscriminatorOutput(logits, None if self.class_head is None else self._apply(self.class_head, flat, training))

    def _apply(self, head: keras.layers.Layer, features: Tensor, training: bool) -> Tensor:
        return head(features, training=training) if self.is_spectral else head(features)

    def _beside(self, vectors: Tensor) -> Tensor:
        """Class vectors [B,H*W] as one more channel [B,H,W,1]; for vectors of data, [B,D] as they are."""
        places = self.context.shape[:-1] or self.context.shape
        return tf.reshape(vectors, [-1, *places, 1] if len(self.context.shape) > 1 else [-1, *places])


class ClassVectors(keras.layers.Layer):
    """A learnt vector per class: labels [B] -> [B,size]."""

    def __init__(self, context: NetContext, size: int, initializer: keras.Initializer, is_spectral: bool = False) -> None:
        """`is_spectral`: the table [num_classes,size] is divided by its largest singular value, as Miyato and Koyama do.

        Raises UsageError for data without labels.
        """
        super().__init__(name="classes", dtype=context.dtype)
        self.num_classes, self.is_spectral = require_classes(context), is_spectral
        kernel: Any = initializer  # the type of Dense's argument allows names only
        table = keras.layers.Dense(size, use_bias=False, kernel_initializer=kernel, name="table", dtype=context.dtype)
        self.table = spectral(table, is_spectral, context.dtype)

    def call(self, labels: Tensor, training: bool = False) -> Tensor:
        """[B] integers -> [B,size], by a matrix product: its gradient is dense and, on a GPU too, repeatable."""
        rows = tf.one_hot(labels, self.num_classes, dtype=self.compute_dtype)
        return self.table(rows, training=training) if self.is_spectral else self.table(rows)


def require_classes(context: NetContext) -> int:
    """The number of classes. Raises UsageError for data without labels."""
    if context.num_classes is None:
        raise UsageError("conditioning needs labels and the data has none; take labelled data or write `conditioning: null`")
    return context.num_classes


def create_generator_variables(net: Generator) -> Generator:
    """Call it once on one latent, so that every variable exists. Returns the net."""
    net(tf.zeros([1, net.context.latent_size]), _one_label(net.context))
    return net


def create_discriminator_variables(net: Discriminator) -> Discriminator:
    """Call it once on one example, so that every variable exists. Returns the net."""
    net(tf.zeros([1, *net.context.shape]), _one_label(net.context))
    return net


def _one_label(context: NetContext) -> Tensor | None:
    return None if context.num_classes is None else tf.zeros([1], tf.int64)


def _present(labels: Tensor | None, net: str) -> Tensor:
    if labels is None:
        raise UsageError(f"the {net} is conditional and was called without labels; pass labels [B]")
    return labels


def _flatten(features: Tensor) -> Tensor:
    return tf.reshape(features, [-1, math.prod(features.shape[1:])])


def _project(vectors: Tensor, features: Tensor) -> Tensor:
    """<v_y, sum over positions of the features>, [B] float32. Miyato and Koyama 2018 (arXiv:1802.05637), section 4."""
    positions = list(range(1, len(features.shape) - 1))
    summed = tf.reduce_sum(tf.cast(features, tf.float32), axis=positions) if positions else tf.cast(features, tf.float32)
    return tf.reduce_sum(tf.cast(vectors, tf.float32) * summed, axis=-1)
