"""DCGAN (Radford et al. 2015, arXiv:1511.06434) for pictures of any size that stride-2 stages can reach."""

from __future__ import annotations

from dataclasses import dataclass

import keras
import tensorflow as tf

from gantrain.interfaces import NetContext, Tensor
from gantrain.models import catalog
from gantrain.models.layers import Block, Finish, weights
from gantrain.models.nets import Discriminator, Generator, create_discriminator_variables, create_generator_variables
from gantrain.models.sizes import count_stages, refuse, seed_size

Catalogued = catalog.DcganGenerator | catalog.DcganDiscriminator


@dataclass(frozen=True)
class Stage:
    """One convolution: its name, output channels, stride in pixels, and whether a norm follows."""

    name: str
    channels: int
    stride: int
    norm: bool


class Seed(Block):
    """Latents [B,n] -> dense -> [B,h,w,C] -> norm -> leaky ReLU, with statistics per channel or per unit."""

    def __init__(self, linear: keras.layers.Layer, finish: Finish, map_shape: tuple[int, int, int], per_unit: bool) -> None:
        super().__init__("seed", linear, finish)
        self.map_shape, self.per_unit = map_shape, per_unit

    def call(self, x: Tensor, training: bool = False) -> Tensor:
        """[B,n] -> [B,h,w,C]."""
        x = self.linear(x)
        if not self.per_unit:
            x = tf.reshape(x, [-1, *self.map_shape])
        return tf.reshape(self.finish(x, training), [-1, *self.map_shape])


class DcganGenerator(Generator):
    """Seed, stages that double the map, and a last one without norm that makes the picture."""

    def __init__(self, settings: catalog.DcganGenerator, context: NetContext) -> None:
        super().__init__(settings, context)
        *inner, last = _generator_stages(settings, context)
        self.seed = _seed(settings, context, len(inner))
        self.stages = [
            Block(stage.name, _conv(stage, settings, context.dtype), _finish(settings, stage, context)) for stage in inner
        ]
        self.out = _conv(last, settings, "float32")

    def draw(self, x: Tensor, training: bool) -> Tensor:
        """[B,n] -> [B,H,W,C] float32."""
        x = self.seed(x, training=training)
        for stage in self.stages:
            x = stage(x, training=training)
        return self.out(x)


class DcganDiscriminator(Discriminator):
    """Stages that halve the map, then one logit from the last map."""

    def __init__(self, settings: catalog.DcganDiscriminator, context: NetContext) -> None:
        stages = _discriminator_stages(settings, context)
        super().__init__(settings, context, stages[-1].channels)
        self.stages = [
            Block(stage.name, _conv(stage, settings, context.dtype), _finish(settings, stage, context)) for stage in stages
        ]

    def extract(self, x: Tensor, training: bool) -> Tensor:
        """[B,H,W,C] -> [B,h,w,c]."""
        for stage in self.stages:
            x = stage(x, training=training)
        return x


def build_generator(settings: catalog.DcganGenerator, context: NetContext) -> Generator:
    """Builder: every variable exists when it returns. Raises UsageError for a size the stages cannot reach."""
    refuse(settings.buildable(context.shape), "generator")
    return create_generator_variables(DcganGenerator(settings, context))


def build_discriminator(settings: catalog.DcganDiscriminator, context: NetContext) -> Discriminator:
    """Builder: every variable exists when it returns. Raises UsageError for a size the stages cannot reach."""
    refuse(settings.buildable(context.shape), "discriminator")
    return create_discriminator_variables(DcganDiscriminator(settings, context))


def _generator_stages(settings: catalog.DcganGenerator, context: NetContext) -> list[Stage]:
    """Widths halve towards the picture, down to base_width before the last stage; without any stage one of stride 1 remains."""
    height, width, channels = context.shape
    doubling = [2] * count_stages(settings.stages, height, width) or [1]
    strides = [1] * settings.refine + doubling
    names = ["refine"] * settings.refine + [f"stage{index}" for index in range(1, len(doubling))] + ["out"]
    widths = [_width(settings, doublings) for doublings in reversed(range(len(strides) - 1))] + [channels]
    norm = settings.norm == "batch_norm"
    return [
        Stage(name, width, stride, norm and name != "out") for name, width, stride in zip(names, widths, strides, strict=True)
    ]


def _discriminator_stages(settings: catalog.DcganDiscriminator, context: NetContext) -> list[Stage]:
    """Widths double from base_width; without any stage one of stride 1 remains. The first has no norm."""
    height, width, _ = context.shape
    strides = [2] * count_stages(settings.stages, height, width) or [1]
    norm = settings.norm == "batch_norm"
    return [
        Stage(f"stage{index + 1}", _width(settings, index), stride, norm and index > 0) for index, stride in enumerate(strides)
    ]


def _width(settings: Catalogued, doublings: int) -> int:
    return min(settings.base_width * 2**doublings, settings.max_width)


def _seed(settings: catalog.DcganGenerator, context: NetContext, doublings: int) -> Seed:
    rows, columns = seed_size(settings.stages, *context.shape[:2])
    channels = _width(settings, doublings)
    plan = Stage("seed", rows * columns * channels, 1, settings.norm == "batch_norm")
    kernel = weights(settings.initial_std)
    dense = keras.layers.Dense(plan.channels, None, _bias(settings, plan), kernel, name="dense", dtype=context.dtype)
    return Seed(dense, _finish(settings, plan, context), (rows, columns, channels), settings.seed_norm == "units")


def _conv(stage: Stage, settings: Catalogued, dtype: str) -> keras.layers.Layer:
    """The stage's convolution; transposed in a generator: on a CPU faster than resizing and convolving."""
    kind = keras.layers.Conv2DTranspose if isinstance(settings, catalog.DcganGenerator) else keras.layers.Conv2D
    return kind(
        stage.channels,
        settings.kernel_size,
        stage.stride,
        "same",
        use_bias=_bias(settings, stage),
        kernel_initializer=weights(settings.initial_std),
        name="out" if stage.name == "out" else "conv",
        dtype=dtype,
    )


def _bias(settings: Catalogued, stage: Stage) -> bool:
    return not stage.norm if settings.use_bias == "auto" else settings.use_bias


def _finish(settings: Catalogued, stage: Stage, context: NetContext) -> Finish:
    dropout = settings.dropout if isinstance(settings, catalog.DcganDiscriminator) else 0.0
    return Finish(stage.norm, settings.norm_momentum, settings.initial_std, settings.negative_slope, dropout, context.dtype)
