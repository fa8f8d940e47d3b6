"""Resampling, self-attention and the spread of the minibatch, by hand."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from gantrain.models.maps import Blurred, MinibatchStd, SelfAttention, blur, enlarge, shrink


def examples(shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def test_enlarging_repeats_and_shrinking_takes_the_mean():
    x = examples((2, 3, 4, 2))
    np.testing.assert_array_equal(enlarge(x), x.repeat(2, 1).repeat(2, 2))
    np.testing.assert_allclose(shrink(enlarge(x)), x, rtol=1e-6)


def test_the_blur_is_binomial_and_keeps_constants_also_at_the_edges():
    dot = np.zeros((1, 5, 5, 1), np.float32)
    dot[0, 2, 2] = 16.0
    np.testing.assert_array_equal(blur(dot)[0, 1:4, 1:4, 0], np.outer([1, 2, 1], [1, 2, 1]))
    np.testing.assert_allclose(blur(np.ones((1, 4, 3, 2), np.float32)), 1.0)


def test_blurred_convolutions_double_and_halve_the_map_and_differentiate_twice():
    for direction, shape in (("up", (2, 8, 12, 3)), ("down", (2, 2, 3, 3))):
        layer = Blurred(keras.layers.Conv2D(3, 3, padding="same", name="conv"), direction)
        x = tf.constant(examples((2, 4, 6, 2)))
        assert layer(x).shape == shape
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                total = tf.reduce_sum(tf.square(layer(x)))
            penalty = tf.reduce_sum(tf.square(inner.gradient(total, x)))
        gradient = outer.gradient(penalty, layer.convolution.kernel.value)
        # the penalty is of degree four in the kernel (the bias is zero): w . d/dw = 4 times itself
        np.testing.assert_allclose(tf.reduce_sum(gradient * layer.convolution.kernel.value), 4 * penalty, rtol=1e-4)


def test_the_spread_of_the_minibatch_is_one_more_channel():
    x = examples((4, 3, 2, 5))
    y = MinibatchStd(name="spread")(x).numpy()
    np.testing.assert_array_equal(y[..., :5], x)
    np.testing.assert_allclose(y[..., 5], x.std(0).mean(), rtol=1e-5)


def test_self_attention_starts_as_the_identity_and_is_the_weighted_sum_of_values():
    x = examples((2, 3, 2, 8))
    layer = SelfAttention("attention", is_spectral=False)
    np.testing.assert_array_equal(layer(x), x)
    layer.gamma.assign(0.5)
    rows = x.reshape(2, 6, 8)
    query, key, value, out = (getattr(layer, name).kernel.numpy() for name in ("query", "key", "value", "out"))
    scores = (rows @ query) @ (rows @ key).transpose(0, 2, 1)
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    expected = rows + 0.5 * (shares @ (rows @ value)) @ out
    np.testing.assert_allclose(layer(x).numpy().reshape(2, 6, 8), expected, rtol=1e-4, atol=1e-5)
