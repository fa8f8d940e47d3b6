"""Dense nets for examples of any shape."""

from __future__ import annotations

import math
from typing import Any

import keras
import tensorflow as tf

from gantrain.interfaces import NetContext, Tensor
from gantrain.models import catalog
from gantrain.models.blocks import SHIFTING_NORMS, Block, Finish
from gantrain.models.encoder_catalog import MlpEncoder
from gantrain.models.layers import Dropout, relu, weights
from gantrain.models.nets import Discriminator, Generator, create_discriminator_variables, create_generator_variables
from gantrain.models.spectral import spectral


class MlpGenerator(Generator):
    """Hidden dense layers, then one number per pixel."""

    def __init__(self, settings: catalog.MlpGenerator, context: NetContext) -> None:
        super().__init__(settings, context)
        self.hidden = dense_blocks(settings, [settings.norm] * len(settings.units), 0.0, context)
        kernel = weights(settings.initial_std)
        self.out = keras.layers.Dense(math.prod(context.shape), kernel_initializer=kernel, name="out", dtype="float32")

    def draw(self, x: Tensor, training: bool, labels: Tensor | None) -> Tensor:
        """[B,n] -> [B, pixels] float32."""
        del labels
        for block in self.hidden:
            x = block(x, training=training)
        return self.out(x)


class MlpDiscriminator(Discriminator):
    """Hidden dense layers, then one logit."""

    def __init__(self, settings: catalog.MlpDiscriminator, context: NetContext) -> None:
        super().__init__(settings, context, settings.units[-1])
        first = settings.norm if settings.norm == "spectral_norm" else "none"
        norms = [first, *[settings.norm] * (len(settings.units) - 1)]
        self.hidden = dense_blocks(settings, norms, settings.dropout, context)

    def extract(self, x: Tensor, training: bool) -> Tensor:
        """[B,*shape] -> [B, last width]."""
        x = tf.reshape(x, [-1, math.prod(x.shape[1:])])
        for block in self.hidden:
            x = block(x, training=training)
        return x


def build_generator(settings: catalog.MlpGenerator, context: NetContext) -> Generator:
    """Builder: every variable exists when it returns."""
    return create_generator_variables(MlpGenerator(settings, context))


def build_discriminator(settings: catalog.MlpDiscriminator, context: NetContext) -> Discriminator:
    """Builder: every variable exists when it returns."""
    return create_discriminator_variables(MlpDiscriminator(settings, context))


class MlpModel(keras.Model):
    """Dense layers, called as (inputs [B,*shape], training) -> outputs [B,D] float32."""

    def __init__(self, settings: catalog.MlpModel, context: NetContext) -> None:
        super().__init__(name="model", dtype=context.dtype)
        self.dropouts = [
            Dropout(settings.dropout, f"dropout{index + 1}", context.dtype) for index in range(len(settings.units) - 1)
        ]
        self.hidden = [_dense(f"hidden{index + 1}", width, settings, context) for index, width in enumerate(settings.units[:-1])]
        self.out = _dense("out", settings.units[-1], settings, context)

    def call(self, x: Tensor, training: bool = False) -> Tensor:
        """[B,*shape] -> [B,D]."""
        x = tf.reshape(x, [-1, math.prod(x.shape[1:])])
        for layer, dropout in zip(self.hidden, self.dropouts, strict=True):
            x = dropout(layer(x), training=training)
        return self.out(x)


def build_model(settings: catalog.MlpModel, context: NetContext) -> MlpModel:
    """Builder: every variable exists when it returns."""
    model = MlpModel(settings, context)
    model(tf.zeros([1, *context.shape]))
    return model


def _dense(name: str, width: int, settings: catalog.MlpModel, context: NetContext) -> keras.layers.Dense:
    """A layer with its activation; that of the outputs is float32."""
    is_last = name == "out"
    activation = (settings.last_activation if is_last else None) or settings.activation
    dtype = "float32" if is_last else context.dtype
    function: Any = relu if activation == "relu" else activation  # Keras' annotations allow only names
    return keras.layers.Dense(width, function, kernel_initializer=weights(settings.initial_std), name=name, dtype=dtype)


Layered = catalog.MlpGenerator | catalog.MlpDiscriminator | MlpEncoder


def dense_blocks(settings: Layered, norms: list[str], dropout: float, context: NetContext) -> list[Block]:
    """The hidden layers, each with its norm."""
    return [_block(index, settings, _finish(settings, norm, dropout, context)) for index, norm in enumerate(norms)]


def _block(index: int, settings: Layered, finish: Finish) -> Block:
    kernel = weights(settings.initial_std)
    dense = keras.layers.Dense(
        settings.units[index],
        use_bias=finish.norm not in SHIFTING_NORMS,
        kernel_initializer=kernel,
        name="dense",
        dtype=finish.dtype,
    )
    return Block(f"hidden{index + 1}", spectral(dense, finish.norm == "spectral_norm", finish.dtype), finish)


def _finish(settings: Layered, norm: str, dropout: float, context: NetContext) -> Finish:
    return Finish(norm, settings.norm_momentum, settings.initial_std, settings.negative_slope, dropout, context.dtype)
