"""The residual nets of SNGAN (Miyato et al. 2018, arXiv:1802.05957, appendix B.4), for any size that halving can reach.

Generator: dense -> [h,w,C] -> blocks that double the map -> norm -> ReLU -> convolution. Discriminator: a first block and more
that halve the map, two that do not, ReLU, sum over all places, one logit. At 32x32 with the published widths that is three blocks
that double, and two that halve.
"""

from __future__ import annotations

from dataclasses import replace

import keras
import tensorflow as tf

from gantrain.interfaces import NetContext, Tensor
from gantrain.models import catalog
from gantrain.models.blocks import Finish, apply, make_norm
from gantrain.models.layers import relu, weights
from gantrain.models.maps import enlarge, shrink
from gantrain.models.nets import Discriminator, Generator, create_discriminator_variables, create_generator_variables
from gantrain.models.resampling import convolve_and_shrink, enlarge_and_convolve
from gantrain.models.sizes import count_stages, refuse, seed_size
from gantrain.models.spectral import spectral

PLAIN_BLOCKS = 2  # of the discriminator, at its end
GLOROT = None  # Glorot uniform weights, as published for all but the gains


class UpBlock(keras.layers.Layer):
    """norm -> ReLU -> enlarge -> 3x3 -> norm -> ReLU -> 3x3, plus enlarge -> 1x1 of the input."""

    def __init__(self, name: str, width: int, finish: Finish) -> None:
        super().__init__(name=name, dtype=finish.dtype)
        self.norm1, self.norm2 = make_norm(finish, "norm1"), make_norm(finish, "norm2")
        self.conv1, self.conv2, self.shortcut = _convolutions(width, False, finish.dtype)

    def call(self, x: Tensor, training: bool = False, labels: Tensor | None = None) -> Tensor:
        """[B,H,W,C] -> [B,2H,2W,C]."""
        y = enlarge_and_convolve(self.conv1, relu(apply(self.norm1, x, training, labels)))
        y = relu(apply(self.norm2, y, training, labels))
        return self.conv2(y) + enlarge(self.shortcut(x))  # 1x1 and repetition commute


class DownBlock(keras.layers.Layer):
    """(ReLU ->) 3x3 -> ReLU -> 3x3 (-> shrink), plus 1x1 of the input (shrunk).

    `first`: the input is the picture, which no ReLU cuts, and it is shrunk before its 1x1. `shrinks` false: the input is added
    as it is.
    """

    def __init__(self, name: str, width: int, is_spectral: bool, dtype: str, first: bool = False, shrinks: bool = True) -> None:
        super().__init__(name=name, dtype=dtype)
        self.first, self.shrinks = first, shrinks
        self.conv1, self.conv2, shortcut = _convolutions(width, is_spectral, dtype)
        self.shortcut = shortcut if shrinks else None

    def call(self, x: Tensor, training: bool = False) -> Tensor:
        """[B,H,W,n] -> [B,H/2,W/2,C], or the same shape."""
        y = apply(self.conv1, x if self.first else relu(x), training)
        if not self.shrinks:
            return apply(self.conv2, relu(y), training) + x
        y = convolve_and_shrink(self.conv2, relu(y), training)
        return y + apply(self.shortcut, shrink(x), training)  # 1x1 and the mean commute


class SnganGenerator(Generator):
    """Latents -> the smallest map -> blocks that double it -> the picture."""

    def __init__(self, settings: catalog.SnganGenerator, context: NetContext) -> None:
        super().__init__(settings, context)
        height, width, channels = context.shape
        self.map_shape = (*seed_size(settings.stages, height, width), settings.width)
        finish = _finish(settings, context)
        last = replace(finish, num_classes=None)  # as published: the last norm is the same for all classes
        units = self.map_shape[0] * self.map_shape[1] * settings.width
        self.seed = keras.layers.Dense(units, kernel_initializer=weights(GLOROT), name="seed", dtype=context.dtype)
        count = count_stages(settings.stages, height, width)
        self.blocks = [UpBlock(f"block{index + 1}", settings.width, finish) for index in range(count)]
        self.norm = make_norm(last, "norm")
        self.out = keras.layers.Conv2D(
            channels, 3, padding="same", kernel_initializer=weights(GLOROT), name="out", dtype="float32"
        )

    def draw(self, x: Tensor, training: bool, labels: Tensor | None) -> Tensor:
        """[B,n] -> [B,H,W,C] float32."""
        x = tf.reshape(self.seed(x), [-1, *self.map_shape])
        for block in self.blocks:
            x = block(x, training=training, labels=labels)
        return self.out(relu(apply(self.norm, x, training, labels)))


class SnganDiscriminator(Discriminator):
    """Blocks, ReLU, sum over all places."""

    def __init__(self, settings: catalog.SnganDiscriminator, context: NetContext) -> None:
        super().__init__(settings, context, settings.width)
        halvings = max(count_stages(settings.stages, *context.shape[:2]) - 1, 1)
        self.blocks = [
            DownBlock(f"block{index + 1}", settings.width, settings.spectral(), context.dtype, index == 0, index < halvings)
            for index in range(halvings + PLAIN_BLOCKS)
        ]

    def extract(self, x: Tensor, training: bool) -> Tensor:
        """[B,H,W,C] -> [B,width]."""
        for block in self.blocks:
            x = block(x, training=training)
        return tf.reduce_sum(tf.cast(relu(x), tf.float32), axis=[1, 2])


def build_generator(settings: catalog.SnganGenerator, context: NetContext) -> Generator:
    """Builder: every variable exists when it returns. Raises UsageError for a size the stages cannot reach."""
    refuse(settings.buildable(context.shape), "generator")
    return create_generator_variables(SnganGenerator(settings, context))


def build_discriminator(settings: catalog.SnganDiscriminator, context: NetContext) -> Discriminator:
    """Builder: every variable exists when it returns. Raises UsageError for a size the stages cannot reach."""
    refuse(settings.buildable(context.shape), "discriminator")
    return create_discriminator_variables(SnganDiscriminator(settings, context))


def _convolutions(width: int, is_spectral: bool, dtype: str) -> list[keras.layers.Layer]:
    """Two of 3x3 and one of 1x1."""
    plan = (("conv1", 3), ("conv2", 3), ("shortcut", 1))
    convolutions = [
        keras.layers.Conv2D(width, size, padding="same", kernel_initializer=weights(GLOROT), name=name, dtype=dtype)
        for name, size in plan
    ]
    return [spectral(convolution, is_spectral, dtype) for convolution in convolutions]


def _finish(settings: catalog.SnganGenerator, context: NetContext) -> Finish:
    classes = context.num_classes if settings.conditioning == "conditional_batch_norm" else None
    return Finish(settings.norm, settings.norm_momentum, None, 0.0, 0.0, context.dtype, classes)
