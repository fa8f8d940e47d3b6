"""DCGAN (Radford et al. 2015, arXiv:1511.06434) for pictures of any size that stride-2 stages can reach."""

from __future__ import annotations

from dataclasses import dataclass

import keras
import tensorflow as tf

from gantrain.interfaces import NetContext, Tensor
from gantrain.models import catalog
from gantrain.models.blocks import SHIFTING_NORMS, Block, Finish, apply
from gantrain.models.convolutions import Convolution, TransposedConvolution
from gantrain.models.encoder_catalog import DcganEncoder
from gantrain.models.layers import weights
from gantrain.models.maps import Blurred, MinibatchStd, SelfAttention
from gantrain.models.nets import Discriminator, Generator, create_discriminator_variables, create_generator_variables
from gantrain.models.sizes import count_stages, refuse, seed_size
from gantrain.models.spectral import spectral

Halving = catalog.DcganDiscriminator | DcganEncoder
Catalogued = catalog.DcganGenerator | Halving


@dataclass(frozen=True)
class Stage:
    """One convolution: its name, output channels, stride in pixels, its norm, and whether attention follows."""

    name: str
    channels: int
    stride: int
    norm: str
    attends: bool = False


class Seed(Block):
    """Latents [B,n] -> dense -> [B,h,w,C] -> norm -> leaky ReLU, with statistics per channel or per unit."""

    def __init__(self, linear: keras.layers.Layer, finish: Finish, map_shape: tuple[int, int, int], per_unit: bool) -> None:
        super().__init__("seed", linear, finish)
        self.map_shape, self.per_unit = map_shape, per_unit

    def call(self, x: Tensor, training: bool = False, labels: Tensor | None = None) -> Tensor:
        """[B,n] -> [B,h,w,C]."""
        x = apply(self.linear, x, training)
        if not self.per_unit:
            x = tf.reshape(x, [-1, *self.map_shape])
        return tf.reshape(self.finish(x, training, labels), [-1, *self.map_shape])


class ConvBlock(Block):
    """A block on maps, with self-attention at its end where that is asked for."""

    def __init__(self, stage: Stage, linear: keras.layers.Layer, finish: Finish, initial_std: float | None) -> None:
        super().__init__(stage.name, linear, finish)
        is_spectral = finish.norm == "spectral_norm"
        self.attention = SelfAttention("attention", is_spectral, initial_std, finish.dtype) if stage.attends else None

    def call(self, x: Tensor, training: bool = False, labels: Tensor | None = None) -> Tensor:
        """[B,H,W,n] -> [B,h,w,m]."""
        return apply(self.attention, super().call(x, training, labels), training)


class DcganGenerator(Generator):
    """Seed, stages that double the map, and a last one without norm that makes the picture."""

    def __init__(self, settings: catalog.DcganGenerator, context: NetContext) -> None:
        super().__init__(settings, context)
        *inner, last = _generator_stages(settings, context)
        self.seed = _seed(settings, context, len(inner))
        self.stages = [conv_block(stage, settings, context) for stage in inner]
        self.out = _out(last, settings)

    def draw(self, x: Tensor, training: bool, labels: Tensor | None) -> Tensor:
        """[B,n] -> [B,H,W,C] float32."""
        x = self.seed(x, training=training, labels=labels)
        for stage in self.stages:
            x = stage(x, training=training, labels=labels)
        return apply(self.out, x, training)


class DcganDiscriminator(Discriminator):
    """Stages that halve the map, then one logit from the last map."""

    def __init__(self, settings: catalog.DcganDiscriminator, context: NetContext) -> None:
        first = settings.norm if settings.norm == "spectral_norm" else "none"
        stages = halving_stages(settings, context, first)
        super().__init__(settings, context, stages[-1].channels + settings.minibatch_std)
        self.stages = [conv_block(stage, settings, context) for stage in stages]
        self.spread = MinibatchStd(name="spread", dtype=context.dtype) if settings.minibatch_std else None

    def extract(self, x: Tensor, training: bool) -> Tensor:
        """[B,H,W,C] -> [B,h,w,c]."""
        for stage in self.stages:
            x = stage(x, training=training)
        return apply(self.spread, x, training)


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
    norms = [settings.norm] * (len(names) - 1) + [settings.norm if settings.norm == "spectral_norm" else "none"]
    side, stages = seed_size(settings.stages, height, width)[0], list[Stage]()
    for name, channels_out, stride, norm in zip(names, widths, strides, norms, strict=True):
        side *= stride
        stages.append(Stage(name, channels_out, stride, norm, name != "out" and side == settings.attention))
    return stages


def halving_stages(settings: Halving, context: NetContext, first_norm: str) -> list[Stage]:
    """Widths double from base_width; without any stage one of stride 1 remains. `first_norm` is that of the first stage."""
    height, width, _ = context.shape
    strides = [2] * count_stages(settings.stages, height, width) or [1]
    norms = [first_norm, *[settings.norm] * (len(strides) - 1)]
    attends = [height // 2 ** (index + 1) == settings.attention and index + 1 < len(strides) for index in range(len(strides))]
    return [
        Stage(f"stage{index + 1}", _width(settings, index), strides[index], norms[index], attends[index])
        for index in range(len(strides))
    ]


def _width(settings: Catalogued, doublings: int) -> int:
    return min(settings.base_width * 2**doublings, settings.max_width)


def _seed(settings: catalog.DcganGenerator, context: NetContext, doublings: int) -> Seed:
    rows, columns = seed_size(settings.stages, *context.shape[:2])
    channels = _width(settings, doublings)
    plan = Stage("seed", rows * columns * channels, 1, settings.norm)
    kernel = weights(settings.initial_std)
    dense = keras.layers.Dense(plan.channels, None, _bias(settings, plan), kernel, name="dense", dtype=context.dtype)
    dense = spectral(dense, settings.norm == "spectral_norm", context.dtype)
    return Seed(dense, _finish(settings, plan, context), (rows, columns, channels), settings.seed_norm == "units")


def _conv(stage: Stage, settings: Catalogued, dtype: str) -> keras.layers.Layer:
    """The stage's convolution; transposed in a generator: on a CPU faster than resizing and convolving."""
    blurs = settings.resample == "blur" and stage.stride == 2
    transposed = isinstance(settings, catalog.DcganGenerator) and not blurs
    kind = TransposedConvolution if transposed else Convolution
    return kind(
        stage.channels,
        settings.kernel_size,
        1 if blurs else stage.stride,
        "same",
        use_bias=_bias(settings, stage),
        kernel_initializer=weights(settings.initial_std),
        name="out" if stage.name == "out" else "conv",
        dtype=dtype,
    )


def conv_block(stage: Stage, settings: Catalogued, context: NetContext) -> ConvBlock:
    """The stage with all that follows its convolution."""
    finish = _finish(settings, stage, context)
    linear = _resampled(_conv(stage, settings, context.dtype), stage, settings, context.dtype)
    return ConvBlock(stage, linear, finish, settings.initial_std)


def _out(stage: Stage, settings: catalog.DcganGenerator) -> keras.layers.Layer:
    return _resampled(_conv(stage, settings, "float32"), stage, settings, "float32")


def _resampled(convolution: keras.layers.Layer, stage: Stage, settings: Catalogued, dtype: str) -> keras.layers.Layer:
    """The convolution with what surrounds it: normalised weights, and resampling where it does not do that itself."""
    convolution = spectral(convolution, stage.norm == "spectral_norm", dtype)
    if settings.resample == "strided" or stage.stride == 1:
        return convolution
    return Blurred(convolution, "up" if isinstance(settings, catalog.DcganGenerator) else "down", dtype)


def _bias(settings: Catalogued, stage: Stage) -> bool:
    return stage.norm not in SHIFTING_NORMS if settings.use_bias == "auto" else settings.use_bias


def _finish(settings: Catalogued, stage: Stage, context: NetContext) -> Finish:
    is_generator = isinstance(settings, catalog.DcganGenerator)
    dropout = 0.0 if is_generator else settings.dropout
    classes = context.num_classes if is_generator and settings.conditioning == "conditional_batch_norm" else None
    std, slope = settings.initial_std, settings.negative_slope
    return Finish(stage.norm, settings.norm_momentum, std, slope, dropout, context.dtype, classes)
