"""Dense nets for examples of any shape."""

from __future__ import annotations

import math

import keras
import tensorflow as tf

from gantrain.interfaces import NetContext, Tensor
from gantrain.models import catalog
from gantrain.models.blocks import SHIFTING_NORMS, Block, Finish
from gantrain.models.layers import weights
from gantrain.models.nets import Discriminator, Generator, create_discriminator_variables, create_generator_variables
from gantrain.models.spectral import spectral


class MlpGenerator(Generator):
    """Hidden dense layers, then one number per pixel."""

    def __init__(self, settings: catalog.MlpGenerator, context: NetContext) -> None:
        super().__init__(settings, context)
        finish = _finish(settings, settings.norm, 0.0, context)
        self.hidden = [_block(index, settings, finish) for index in range(len(settings.units))]
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
        settings.units[index],
        use_bias=finish.norm not in SHIFTING_NORMS,
        kernel_initializer=kernel,
        name="dense",
        dtype=finish.dtype,
    )
    return Block(f"hidden{index + 1}", spectral(dense, finish.norm == "spectral_norm", finish.dtype), finish)


def _finish(settings: catalog.MlpGenerator | catalog.MlpDiscriminator, norm: str, dropout: float, context: NetContext) -> Finish:
    return Finish(norm, settings.norm_momentum, settings.initial_std, settings.negative_slope, dropout, context.dtype)
