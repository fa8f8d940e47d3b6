"""A convolution of stride 1 and the resampling beside it as one strided convolution: the same function for 4/9 of the work.

Along one axis, with the kernel (w0, w1, w2): repeating each place and convolving gives each place of the input the weights
(w2, w1 + w2, w0 + w1, w0) on four places of the output; convolving and taking means of two gives each place of the output the
weights (w0, w0 + w1, w1 + w2, w2) / 2 on four places of the input. Zeros beyond the edge are the same zeros in both forms.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.models.spectral import SpectralNorm


def enlarge_and_convolve(layer: keras.layers.Layer, x: Tensor, training: bool = False) -> Tensor:
    """layer(enlarge(x)) for a convolution of odd size and stride 1, spectrally normalised or not: [B,H,W,n] -> [B,2H,2W,m]."""
    kernel = _kernel(layer, x, training)
    filters = tf.transpose(_spread(tf.reverse(kernel, [0, 1])), [0, 1, 3, 2])
    shape = tf.stack([tf.shape(x)[0], 2 * x.shape[1], 2 * x.shape[2], kernel.shape[-1]])
    inner = _convolution(layer)
    y = tf.nn.conv2d_transpose(tf.cast(x, inner.compute_dtype), tf.cast(filters, inner.compute_dtype), shape, 2, "SAME")
    return _with_bias(inner, y)


def convolve_and_shrink(layer: keras.layers.Layer, x: Tensor, training: bool = False) -> Tensor:
    """shrink(layer(x)) for a convolution as above: [B,H,W,n] -> [B,H//2,W//2,m]. An odd side loses its last place."""
    filters, inner = 0.25 * _spread(_kernel(layer, x, training)), _convolution(layer)
    edge = [(filters.shape[0] - 2) // 2] * 2
    padding: Any = [[0, 0], edge, edge, [0, 0]]
    return _with_bias(inner, tf.nn.conv2d(tf.cast(x, inner.compute_dtype), tf.cast(filters, inner.compute_dtype), 2, padding))


def _spread(kernel: Tensor) -> Tensor:
    """[k,k,n,m] -> [k+1,k+1,n,m]: along both axes, the kernel and the kernel moved by one place, added."""
    rows = tf.pad(kernel, [[0, 1], [0, 0], [0, 0], [0, 0]]) + tf.pad(kernel, [[1, 0], [0, 0], [0, 0], [0, 0]])
    return tf.pad(rows, [[0, 0], [0, 1], [0, 0], [0, 0]]) + tf.pad(rows, [[0, 0], [1, 0], [0, 0], [0, 0]])


def _kernel(layer: keras.layers.Layer, x: Tensor, training: bool) -> Tensor:
    """As it is before it is cast for the computation, so that sums of weights lose nothing."""
    if not layer.built:
        layer.build(x.shape)
    return layer.kernel(training) if isinstance(layer, SpectralNorm) else tf.convert_to_tensor(layer.kernel.value)


def _convolution(layer: keras.layers.Layer) -> keras.layers.Layer:
    return layer.layer if isinstance(layer, SpectralNorm) else layer


def _with_bias(convolution: keras.layers.Layer, y: Tensor) -> Tensor:
    return y + tf.cast(tf.convert_to_tensor(convolution.bias.value), y.dtype) if convolution.use_bias else y
