"""Convolutions with the gradient of the kernel as a product, against TensorFlow's own ops."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from gantrain.models import convolutions
from gantrain.models.convolutions import Convolution, TransposedConvolution, convolve, convolve_transposed


def drawn(seed: int, *shape: int) -> tf.Tensor:
    return tf.constant(np.random.default_rng(seed).normal(size=shape))  # float64


def derivatives(function, x: tf.Tensor, kernel: tf.Tensor) -> list[tf.Tensor]:
    """The value, the gradients by both, and the gradients of a function of these by both."""

    @tf.function(autograph=False)
    def all_of(x: tf.Tensor, kernel: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as outer:
            outer.watch([x, kernel])
            with tf.GradientTape() as inner:
                inner.watch([x, kernel])
                y = function(x, kernel)
                total = tf.reduce_sum(tf.sin(y))
            first = inner.gradient(total, [x, kernel])
            size = tf.add_n([tf.reduce_sum(tf.sin(item)) for item in first])
        return [y, *first, *outer.gradient(size, [x, kernel])]

    return all_of(x, kernel)


def plain_transposed(x: tf.Tensor, kernel: tf.Tensor, stride: int) -> tf.Tensor:
    shape = [x.shape[0], stride * x.shape[1], stride * x.shape[2], kernel.shape[2]]
    return tf.nn.conv2d_transpose(x, kernel, shape, stride, "SAME")


CASES = {
    "halving": (convolve, lambda x, kernel, stride: tf.nn.conv2d(x, kernel, stride, "SAME"), 2, (2, 5, 6, 3), (4, 4, 3, 2)),
    "odd kernel": (convolve, lambda x, kernel, stride: tf.nn.conv2d(x, kernel, stride, "SAME"), 1, (2, 4, 3, 2), (3, 3, 2, 4)),
    "doubling": (convolve_transposed, plain_transposed, 2, (2, 3, 2, 4), (5, 5, 3, 4)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_product_gives_value_gradients_and_second_gradients_of_the_plain_op(case, monkeypatch):
    function, plain, stride, x_shape, kernel_shape = CASES[case]
    monkeypatch.setattr(convolutions, "LARGE", 1)
    x, kernel = drawn(0, *x_shape), drawn(1, *kernel_shape)
    taken = []
    monkeypatch.setattr(
        tf.image, "extract_patches", lambda *given, original=tf.image.extract_patches: taken.append(1) or original(*given)
    )
    found = derivatives(lambda x, kernel: function(x, kernel, stride), x, kernel)
    assert taken
    for mine, theirs in zip(found, derivatives(lambda x, kernel: plain(x, kernel, stride), x, kernel), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


def test_a_small_kernel_or_a_large_map_keeps_the_plain_op(monkeypatch):
    monkeypatch.setattr(tf.image, "extract_patches", lambda *_: pytest.fail("a product"))
    derivatives(lambda x, kernel: convolve(x, kernel, 2), drawn(0, 1, 4, 4, 3), drawn(1, 4, 4, 3, 2))
    monkeypatch.setattr(convolutions, "LARGE", 1)
    derivatives(lambda x, kernel: convolve(x, kernel, 1), drawn(0, 1, 9, 8, 3), drawn(1, 4, 4, 3, 2))


@pytest.mark.parametrize("kind", [(Convolution, keras.layers.Conv2D), (TransposedConvolution, keras.layers.Conv2DTranspose)])
def test_the_layers_do_what_those_of_keras_do(kind):
    mine, theirs = (layer(4, 3, 2, "same", bias_initializer="normal", dtype="float64") for layer in kind)
    x = drawn(0, 2, 6, 4, 3)
    mine(x)
    theirs(x)
    for own, other in zip(mine.variables, theirs.variables, strict=True):
        own.assign(other)
    np.testing.assert_allclose(mine(x), theirs(x), rtol=1e-12, atol=1e-12)
    assert mine.compute_output_shape((2, 6, 4, 3)) == theirs.compute_output_shape((2, 6, 4, 3))
