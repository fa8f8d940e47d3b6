"""Layers of our own, used by generators and discriminators alike.

They exist because Keras' own BatchNormalization has wrong second derivatives (its variance stops the gradient at the mean) and no
fused kernel, and because its Dropout names its seed state by a counter of the process.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from gantrain.interfaces import Tensor

# The smallest epsilon cuDNN takes; TensorFlow raises smaller ones to it without a word.
EPSILON = 1.001e-5


class BatchNorm(keras.layers.Layer):
    """y = gamma (x - mean) / sqrt(variance + epsilon) + beta over the last axis of x [B,C] or [B,H,W,C] (Ioffe and Szegedy 2015).

    training=True takes mean and variance of this batch, and moves the moving ones once per call (the variance towards the
    unbiased one, with n - 1); training=False takes the moving ones. Statistics, gamma and beta are float32 under every policy.

    The default momentum is 0.9: runs of a few thousand steps are the common case, and with 0.9 the moving statistics describe
    about the last ten steps (Keras' 0.99: the last hundred, in which the weights of a young net change much). Their noise does
    not matter: pictures come from the moving average of the weights, which averages these statistics as well.
    """

    def __init__(self, name: str, momentum: float = 0.9, initial_std: float | None = None, dtype: str | None = None) -> None:
        """`momentum`: share of the old moving statistics kept per call. `initial_std` of gamma around 1; None: exactly 1."""
        super().__init__(name=name, dtype=dtype)
        self.momentum = momentum
        self.initial_std = initial_std

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Create the four variables, [C] each."""
        shape = (input_shape[-1],)
        gamma = "ones" if self.initial_std is None else keras.initializers.RandomNormal(1.0, self.initial_std)
        self.gamma = self.add_weight(name="gamma", shape=shape, initializer=gamma, dtype="float32", autocast=False)
        self.beta = self.add_weight(name="beta", shape=shape, initializer="zeros", dtype="float32", autocast=False)
        self.moving_mean = self._add_statistic("moving_mean", shape, "zeros")
        self.moving_variance = self._add_statistic("moving_variance", shape, "ones")

    def _add_statistic(self, name: str, shape: tuple[int | None, ...], initializer: str) -> keras.Variable:
        return self.add_weight(name=name, shape=shape, initializer=initializer, dtype="float32", trainable=False, autocast=False)

    def call(self, x: Tensor, training: bool = False) -> Tensor:
        """[B,C] or [B,H,W,C] -> the same shape and dtype."""
        image = as_image(x)
        own = tf.convert_to_tensor(self.gamma), tf.convert_to_tensor(self.beta)
        y = self._normalize_and_update(image, own) if training else self._normalize(image, own)
        return y if len(x.shape) == 4 else tf.reshape(y, [-1, x.shape[-1]])

    def _normalize_and_update(self, x: Tensor, gamma_and_beta: tuple[Tensor, Tensor]) -> Tensor:
        y, mean, variance = tf.compat.v1.nn.fused_batch_norm(x, *gamma_and_beta, epsilon=EPSILON, is_training=True)
        self._move(self.moving_mean, mean)
        self._move(self.moving_variance, variance)
        return y

    def _move(self, moving: keras.Variable, new: Tensor) -> None:
        old = tf.convert_to_tensor(moving)
        moving.assign(old + (1.0 - self.momentum) * (tf.stop_gradient(new) - old))

    def _normalize(self, x: Tensor, gamma_and_beta: tuple[Tensor, Tensor]) -> Tensor:
        gamma, beta = gamma_and_beta
        scale = gamma * tf.math.rsqrt(self.moving_variance + EPSILON)
        shift = beta - self.moving_mean * scale
        return x * tf.cast(scale, x.dtype) + tf.cast(shift, x.dtype)


def as_image(x: Tensor) -> Tensor:
    """[B,C] as a map of one place [B,1,1,C], a map as it is; by reshaping, whose gradient copies nothing, unlike a slice's."""
    return x if len(x.shape) == 4 else tf.reshape(x, [-1, 1, 1, x.shape[-1]])


class Dropout(keras.layers.Layer):
    """Drops a share `rate` of the features in training and scales the others by 1 / (1 - rate)."""

    def __init__(self, rate: float, name: str, dtype: str | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.rate = rate

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Create the seed state here, where it is named after this layer and not after a counter of the process."""
        del input_shape
        self.seeds = keras.random.SeedGenerator(name="seeds")

    def call(self, x: Tensor, training: bool = False) -> Tensor:
        """[B,...] -> the same shape and dtype."""
        return keras.random.dropout(x, self.rate, seed=self.seeds) if training else x


def weights(initial_std: float | None) -> Any:  # a keras.Initializer; Keras' own annotations of layers allow only names
    """A new initializer (one per layer: each has its own seed): N(0, initial_std), None: Glorot uniform."""
    return keras.initializers.GlorotUniform() if initial_std is None else keras.initializers.RandomNormal(0.0, initial_std)


def leaky_relu(x: Tensor, slope: float) -> Tensor:
    """max(x, slope x), any shape; 0 <= slope < 1. NaN stays NaN.

    The gradient is decided by the sign of y, which is that of x: so x itself need not be kept, and TensorFlow can join a
    convolution, its bias and this into one op (with its own gradient its optimiser of graphs fails at it, and says so on stderr).
    A slope of 0 is a maximum and not tf.nn.relu: where oneDNN joins that to what is before it, it makes 0 of NaN.
    """

    @tf.custom_gradient
    def function(x: Tensor) -> tuple[Tensor, Any]:
        y = tf.nn.leaky_relu(x, slope) if slope else tf.maximum(x, tf.zeros([], x.dtype))
        return y, lambda upstream: _slope_times(upstream, y, slope)

    return function(x)


def relu(x: Tensor) -> Tensor:
    """max(x, 0), any shape. NaN stays NaN."""
    return leaky_relu(x, 0.0)


def _slope_times(upstream: Tensor, y: Tensor, slope: float) -> Tensor:
    if slope:
        return tf.raw_ops.LeakyReluGrad(gradients=upstream, features=y, alpha=slope)
    return tf.raw_ops.ReluGrad(gradients=upstream, features=y)
