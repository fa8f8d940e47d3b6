"""Encoders: the bodies of the discriminators, with a code instead of a logit at the end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import keras
import tensorflow as tf

from gantrain.aae_interfaces import EncoderOutput
from gantrain.interfaces import NetContext, Tensor
from gantrain.models.blocks import Block
from gantrain.models.dcgan import conv_block, halving_stages
from gantrain.models.encoder_catalog import CommonEncoder, DcganEncoder, MlpEncoder
from gantrain.models.layers import weights
from gantrain.models.mlp import dense_blocks
from gantrain.models.sizes import refuse
from gantrain.models.spectral import spectral

# What log_std starts with: about -2 for every example, so that codes begin almost deterministic beside N(0, 1).
SMALL_STD = 0.01
FIRST_LOG_STD = -2.0


class Encoder(keras.Model):
    """Called as (x [B,*shape], training) -> EncoderOutput: hidden layers in turn, then dense heads in float32."""

    def __init__(self, settings: CommonEncoder, context: NetContext, hidden: Sequence[Block], is_flat: bool) -> None:
        """`is_flat`: the hidden layers take vectors."""
        super().__init__(name="encoder", dtype=context.dtype)
        self.hidden, self.is_flat, self.is_spectral = hidden, is_flat, "spectral_norm" in settings.norms()
        kernel = weights(settings.initial_std)
        mean = keras.layers.Dense(context.latent_size, kernel_initializer=kernel, name="mean", dtype="float32")
        self.mean = spectral(mean, self.is_spectral, "float32")
        self.log_std = None
        if settings.law == "gaussian":
            small, low = weights(SMALL_STD), cast("Any", keras.initializers.Constant(FIRST_LOG_STD))
            self.log_std = keras.layers.Dense(
                context.latent_size, kernel_initializer=small, bias_initializer=low, name="log_std", dtype="float32"
            )

    def call(self, x: Tensor, training: bool = False) -> EncoderOutput:
        """[B,*shape] -> codes [B,Z]."""
        x = _flat(x) if self.is_flat else x
        for layer in self.hidden:
            x = layer(x, training=training)
        x = _flat(x)
        mean = self.mean(x, training=training) if self.is_spectral else self.mean(x)
        return EncoderOutput(mean, None if self.log_std is None else self.log_std(x))


def build_mlp_encoder(settings: MlpEncoder, context: NetContext) -> Encoder:
    """Builder: every variable exists when it returns."""
    norms = [settings.norm] * len(settings.units)
    return _created(Encoder(settings, context, dense_blocks(settings, norms, settings.dropout, context), is_flat=True), context)


def build_dcgan_encoder(settings: DcganEncoder, context: NetContext) -> Encoder:
    """Builder: every variable exists when it returns. Raises UsageError for a size the stages cannot reach."""
    refuse(settings.buildable(context.shape), "encoder")
    stages = [conv_block(stage, settings, context) for stage in halving_stages(settings, context, first_norm=settings.norm)]
    return _created(Encoder(settings, context, stages, is_flat=False), context)


def _created(net: Encoder, context: NetContext) -> Encoder:
    net(tf.zeros([1, *context.shape]))
    return net


def _flat(x: Tensor) -> Tensor:
    return tf.reshape(x, [-1, math.prod(x.shape[1:])])
