"""LayerNorm, GroupNorm, PixelNorm, conditional BatchNorm: values and second derivatives by the written-out formula."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain.models.norms import EPSILON, ConditionalBatchNorm, GroupNorm, LayerNorm, PixelNorm


def examples(shape, seed=0):
    return np.random.default_rng(seed).normal(2.0, 3.0, shape).astype(np.float32)


def normal(x, axes):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + EPSILON)


def test_layer_norm_takes_all_numbers_of_an_example():
    x = examples((3, 4, 5, 6))
    norm = LayerNorm(name="norm")
    norm.build(x.shape)
    norm.gamma.assign(np.arange(6))
    norm.beta.assign(-np.arange(6))
    np.testing.assert_allclose(norm(x), normal(x, (1, 2, 3)) * np.arange(6) - np.arange(6), atol=1e-4)
    np.testing.assert_allclose(LayerNorm(name="other")(x[:, 0, 0]), normal(x[:, 0, 0], (1,)), atol=1e-5)


@pytest.mark.parametrize(("channels", "groups"), [(16, 8), (6, 6), (9, 3), (11, 1), (64, 8)])
def test_group_norm_takes_as_many_groups_as_divide_the_channels_but_eight_at_most(channels, groups):
    x = examples((2, 3, 3, channels))
    norm = GroupNorm(name="norm")
    expected = normal(x.reshape(2, 3, 3, groups, -1), (1, 2, 4)).reshape(x.shape)
    np.testing.assert_allclose(norm(x), expected, atol=1e-4)
    assert norm.groups == groups


def test_pixel_norm_gives_every_position_a_mean_square_of_one():
    x = examples((2, 3, 3, 8))
    y = PixelNorm(name="norm")(x).numpy()
    np.testing.assert_allclose((y**2).mean(-1), 1.0, atol=1e-5)
    np.testing.assert_allclose(y / np.abs(y).max(-1, keepdims=True), x / np.abs(x).max(-1, keepdims=True), rtol=1e-4)


@pytest.mark.parametrize("shape", [(6, 4), (6, 3, 2, 4)])
def test_conditional_batch_norm_normalises_over_the_batch_and_scales_by_class(shape):
    x, labels = examples(shape), np.array([0, 1, 2, 0, 1, 2])
    norm = ConditionalBatchNorm("norm", 3, momentum=0.8)
    norm(tf.constant(x), training=True, labels=labels)
    norm.beta.assign(examples((3, 4)))
    by_class = [
        tf.convert_to_tensor(table).numpy()[labels].reshape(6, *[1] * (len(shape) - 2), 4) for table in (norm.gamma, norm.beta)
    ]
    axes = tuple(range(len(shape) - 1))
    np.testing.assert_allclose(norm(x, training=True, labels=labels), normal(x, axes) * by_class[0] + by_class[1], atol=1e-4)
    moved = (x - np.asarray(norm.moving_mean)) / np.sqrt(np.asarray(norm.moving_variance) + 1.001e-5)
    np.testing.assert_allclose(norm(x, training=False, labels=labels), moved * by_class[0] + by_class[1], atol=1e-4)
    assert [variable.path for variable in norm.trainable_variables] == ["norm/gamma", "norm/beta"]


def written_out(x, axes, stop):
    mean = tf.reduce_mean(x, axes, keepdims=True)
    variance = tf.reduce_mean(tf.square(x - (tf.stop_gradient(mean) if stop else mean)), axes, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + EPSILON)


def penalty_gradient(norm, x):
    examples_, weights = tf.constant(x), tf.constant(examples(x.shape, 1), x.dtype)

    @tf.function
    def compute(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                total = tf.reduce_sum(weights * tf.math.softplus(2 * norm(tf.math.softplus(x))))
            penalty = tf.reduce_sum(tf.square(inner.gradient(total, x)))
        return outer.gradient(penalty, x)

    return compute(examples_).numpy()


def test_the_second_derivative_of_layer_norm_is_that_of_the_formula_and_not_that_of_tf_moments():
    x, norm = examples((4, 3, 2, 3)), LayerNorm(name="norm")
    ours = penalty_gradient(norm, x)
    exact, mistaken = (
        penalty_gradient(lambda x, stop=stop: written_out(x, [1, 2, 3], stop), x.astype(np.float64)) for stop in (False, True)
    )
    size = np.linalg.norm(exact)
    assert np.linalg.norm(ours - exact) < 1e-4 * size
    assert np.linalg.norm(mistaken - exact) > 1e-3 * size  # what this test would catch
