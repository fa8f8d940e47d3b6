"""Layers on feature maps: resampling that can be differentiated twice, self-attention, the spread of the minibatch."""

from __future__ import annotations

import keras
import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.models.layers import weights
from gantrain.models.spectral import spectral


def enlarge(x: Tensor) -> Tensor:
    """Each position four times, [B,H,W,C] -> [B,2H,2W,C]."""
    return tf.repeat(tf.repeat(x, 2, axis=1), 2, axis=2)


def shrink(x: Tensor) -> Tensor:
    """Mean of two by two positions, [B,2H,2W,C] -> [B,H,W,C]."""
    return tf.nn.avg_pool2d(x, 2, 2, "VALID")


def blur(x: Tensor) -> Tensor:
    """Binomial filter (1, 2, 1) / 4 in both directions, edges repeated; plain sums, so every derivative is there and exact."""
    for axis in (1, 2):
        size = x.shape[axis]
        first, last = tf.gather(x, [0], axis=axis), tf.gather(x, [size - 1], axis=axis)
        wide = tf.concat([first, x, last], axis=axis)
        parts = [wide[:, start : start + size] if axis == 1 else wide[:, :, start : start + size] for start in range(3)]
        x = 0.25 * parts[0] + 0.5 * parts[1] + 0.25 * parts[2]
    return x


class Blurred(keras.layers.Layer):
    """A convolution of stride 1 with a resampling that does not alias (Zhang 2019, arXiv:1904.11486).

    up: enlarge, blur, convolve. down: convolve, blur, halve by the mean of two by two, together the filter (1, 3, 3, 1) / 8.
    """

    def __init__(self, convolution: keras.layers.Layer, direction: str, dtype: str | None = None) -> None:
        """`direction`: up | down."""
        super().__init__(name=f"blurred_{convolution.name}", dtype=dtype)
        self.convolution = convolution
        self.direction = direction

    def call(self, x: Tensor, training: bool = False) -> Tensor:
        """[B,H,W,n] -> [B,2H,2W,m] or [B,H/2,W/2,m]."""
        x = blur(enlarge(x)) if self.direction == "up" else x
        has_state = getattr(self.convolution, "_call_has_training_arg", False)
        x = self.convolution(x, training=training) if has_state else self.convolution(x)
        return x if self.direction == "up" else shrink(blur(x))


class MinibatchStd(keras.layers.Layer):
    """One more channel: the standard deviation over the batch, averaged over all features (Karras et al. 2018, section 3)."""

    def call(self, x: Tensor) -> Tensor:
        """[B,...,C] -> [B,...,C+1]. The batch is the whole one of this call."""
        y = tf.cast(x, tf.float32)
        centred = y - tf.reduce_mean(y, axis=0, keepdims=True)
        spread = tf.reduce_mean(tf.sqrt(tf.reduce_mean(tf.square(centred), axis=0) + 1e-8))
        return tf.concat([x, tf.cast(tf.fill(tf.shape(x[..., :1]), spread), x.dtype)], axis=-1)


class SelfAttention(keras.layers.Layer):
    """x + gamma o(sum_j softmax_j(f(x_i) g(x_j)) h(x_j)), gamma starts at 0 (Zhang et al. 2019, arXiv:1805.08318, equation 1).

    Keys are not pooled: the second derivative of a maximum has no XLA kernel.
    """

    def __init__(self, name: str, is_spectral: bool, initial_std: float | None = None, dtype: str | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.is_spectral, self.initial_std = is_spectral, initial_std

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Create the four linear maps of the channels, and gamma."""
        channels = input_shape[-1] or 1
        self.query, self.key = self._linear("query", channels // 8), self._linear("key", channels // 8)
        self.value, self.out = self._linear("value", channels // 2), self._linear("out", channels)
        for layer in (self.query, self.key, self.value):
            layer.build(input_shape)
        self.out.build((*input_shape[:-1], max(channels // 2, 1)))
        self.gamma = self.add_weight(name="gamma", shape=(), initializer="zeros", dtype="float32", autocast=False)

    def _linear(self, name: str, outputs: int) -> keras.layers.Layer:
        kernel = weights(self.initial_std)
        dense = keras.layers.Dense(max(outputs, 1), use_bias=False, kernel_initializer=kernel, name=name, dtype=self.dtype_policy)
        return spectral(dense, self.is_spectral, self.dtype_policy.name)

    def call(self, x: Tensor, training: bool = False) -> Tensor:
        """[B,H,W,C] -> [B,H,W,C]."""
        rows = tf.reshape(x, [-1, x.shape[1] * x.shape[2], x.shape[3]])
        query, key, value = (self._map(layer, rows, training) for layer in (self.query, self.key, self.value))
        shares = tf.nn.softmax(tf.cast(tf.matmul(query, key, transpose_b=True), tf.float32))
        seen = self._map(self.out, tf.matmul(tf.cast(shares, value.dtype), value), training)
        return x + tf.cast(tf.convert_to_tensor(self.gamma), x.dtype) * tf.reshape(seen, tf.shape(x))

    def _map(self, layer: keras.layers.Layer, x: Tensor, training: bool) -> Tensor:
        return layer(x, training=training) if self.is_spectral else layer(x)
