"""Normalisations whose second derivatives are right (Keras' own take tf.nn.moments, which stops the gradient at the mean).

Statistics, scales and shifts are float32 under every policy; inputs and outputs have the policy's compute dtype.
"""

from __future__ import annotations

import keras
import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.models.layers import BatchNorm, as_image

EPSILON = 1e-5
LARGEST_GROUP_COUNT = 8


class LayerNorm(keras.layers.Layer):
    """y = gamma (x - mean) / sqrt(variance + epsilon) + beta, statistics over all numbers of an example (Ba et al. 2016).

    gamma and beta have one number per channel.
    """

    groups = 1

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Create gamma and beta, [C] each."""
        shape = (input_shape[-1],)
        self.gamma = self.add_weight(name="gamma", shape=shape, initializer="ones", dtype="float32", autocast=False)
        self.beta = self.add_weight(name="beta", shape=shape, initializer="zeros", dtype="float32", autocast=False)

    def call(self, x: Tensor) -> Tensor:
        """[B,...,C] -> the same shape and dtype."""
        groups, channels = self.groups, x.shape[-1]
        y = tf.reshape(tf.cast(x, tf.float32), [-1, *x.shape[1:-1], groups, channels // groups])
        axes = [*range(1, len(y.shape) - 2), len(y.shape) - 1]
        centred = y - tf.reduce_mean(y, axes, keepdims=True)
        y = centred * tf.math.rsqrt(tf.reduce_mean(tf.square(centred), axes, keepdims=True) + EPSILON)
        y = tf.reshape(y, [-1, *x.shape[1:]])
        return tf.cast(y * tf.convert_to_tensor(self.gamma) + tf.convert_to_tensor(self.beta), x.dtype)


class GroupNorm(LayerNorm):
    """As LayerNorm, statistics over groups of channels: the largest number of groups up to 8 that divides them (Wu, He 2018)."""

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Choose the groups; create gamma and beta, [C] each."""
        channels = input_shape[-1] or 1
        self.groups = max(count for count in range(1, LARGEST_GROUP_COUNT + 1) if channels % count == 0)
        super().build(input_shape)


class PixelNorm(keras.layers.Layer):
    """y = x / sqrt(mean over channels of x^2 + 1e-8) at each position (Karras et al. 2018, arXiv:1710.10196, section 4.2)."""

    def call(self, x: Tensor) -> Tensor:
        """[B,...,C] -> the same shape and dtype."""
        y = tf.cast(x, tf.float32)
        return tf.cast(y * tf.math.rsqrt(tf.reduce_mean(tf.square(y), axis=-1, keepdims=True) + 1e-8), x.dtype)


class ConditionalBatchNorm(BatchNorm):
    """BatchNorm with a gamma and a beta for each class (Dumoulin et al. 2017, arXiv:1610.07629).

    The classes' gammas start around 1 with a deviation of `initial_std` (0.02 if None), so that classes differ from the start.
    """

    def __init__(
        self, name: str, num_classes: int, momentum: float = 0.9, initial_std: float | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, momentum, initial_std, dtype)
        self.num_classes = num_classes

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Create gamma and beta [num_classes,C], and the two statistics [C]."""
        channels = input_shape[-1]
        gamma = keras.initializers.RandomNormal(1.0, 0.02 if self.initial_std is None else self.initial_std)
        shape = (self.num_classes, channels)
        self.gamma = self.add_weight(name="gamma", shape=shape, initializer=gamma, dtype="float32", autocast=False)
        self.beta = self.add_weight(name="beta", shape=shape, initializer="zeros", dtype="float32", autocast=False)
        self.moving_mean = self._add_statistic("moving_mean", (channels,), "zeros")
        self.moving_variance = self._add_statistic("moving_variance", (channels,), "ones")

    def call(self, x: Tensor, training: bool = False, labels: Tensor | None = None) -> Tensor:
        """x [B,C] or [B,H,W,C], labels [B] -> the shape and dtype of x."""
        unit = tf.ones([x.shape[-1]]), tf.zeros([x.shape[-1]])
        image = as_image(x)
        y = self._normalize_and_update(image, unit) if training else self._normalize(image, unit)
        classes = tf.one_hot(labels, self.num_classes)
        gamma, beta = (
            tf.cast(tf.matmul(classes, tf.convert_to_tensor(table)), y.dtype)[:, tf.newaxis, tf.newaxis, :]
            for table in (self.gamma, self.beta)
        )
        y = y * gamma + beta
        return y if len(x.shape) == 4 else tf.reshape(y, [-1, x.shape[-1]])
