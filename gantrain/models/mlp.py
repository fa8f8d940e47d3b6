"""Dense nets for examples of any shape."""

from __future__ import annotations

import math

import keras
import tensorflow as tf

from gantrain.interfaces import NetContext, Tensor
from gantrain.models import catalog
from gantrain.models.layers import Block, Finish, weights
from gantrain.models.nets import Discriminator, Generator, create_discriminator_variables, create_generator_variables


class MlpGenerator(Generator):
    """Hidden dense layers, then one number per pixel."""

    def __init__(self, settings: catalog.MlpGenerator, context: NetContext) -> None:
        super().__init__(settings, context)
        finish = _finish(settings, settings.norm == "batch_norm", 0.0, context)
        self.hidden = [_block(index, settings, finish) for index in range(len(settings.units))]
        kernel = weights(settings.initial_std)
        self.out = keras.layers.Dense(math.prod(context.shape), kernel_initializer=kernel, name="out", dtype="float32")

    def draw(self, x: Tensor, training: bool) -> Tensor:
        """[B,n] -> [B, pixels] float32."""
        for block in self.hidden:
            x = block(x, training=training)
        return self.out(x)


class MlpDiscriminator(Discriminator):
    """Hidden dense layers, then one logit."""

    def __init__(self, settings: catalog.MlpDiscriminator, context: NetContext) -> None:
        super().__init__(settings, context, settings.units[-1])
        norms = [settings.norm == "batch_norm" and index > 0 for index in range(len(settings.units))]
        self.hidden = [
            _block(index, settings, _finish(settings, norm, settings.dropout, context)) for index, norm in enumerate(norms)
        ]

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


def _block(index: int, settings: catalog.MlpGenerator | catalog.MlpDiscriminator, finish: Finish) -> Block:
    kernel = weights(settings.initial_std)
    dense = keras.layers.Dense(
        settings.units[index], use_bias=not finish.norm, kernel_initializer=kernel, name="dense", dtype=finish.dtype
    )
    return Block(f"hidden{index + 1}", dense, finish)


def _finish(settings: catalog.MlpGenerator | catalog.MlpDiscriminator, norm: bool, dropout: float, context: NetContext) -> Finish:
    return Finish(norm, settings.norm_momentum, settings.initial_std, settings.negative_slope, dropout, context.dtype)
