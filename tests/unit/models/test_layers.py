"""BatchNorm, Dropout and Block: values, moving statistics, second derivatives, names, precision, strategies."""

from __future__ import annotations

from collections.abc import Callable

import keras
import numpy as np
import pytest
import tensorflow as tf

from gantrain.models.blocks import Block, Finish
from gantrain.models.layers import EPSILON, BatchNorm, Dropout, leaky_relu

SHAPES = [(8, 3), (4, 3, 2, 3)]


def examples(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(2.0, 3.0, shape).astype(np.float32)


def drawn_norm(x: np.ndarray) -> BatchNorm:
    """With gamma and beta that are not one and zero."""
    norm = BatchNorm("norm", momentum=0.8)
    norm(tf.constant(x))
    norm.gamma.assign([0.5, 1.0, 2.0])
    norm.beta.assign([-1.0, 0.0, 3.0])
    return norm


@pytest.mark.parametrize("shape", SHAPES)
def test_training_normalises_with_the_statistics_of_the_batch(shape):
    x = examples(shape)
    axes = tuple(range(len(shape) - 1))
    expected = [0.5, 1.0, 2.0] * (x - x.mean(axes)) / np.sqrt(x.var(axes) + EPSILON) + [-1.0, 0.0, 3.0]
    np.testing.assert_allclose(drawn_norm(x)(tf.constant(x), training=True), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_training_moves_the_statistics_once_towards_the_mean_and_the_unbiased_variance(shape):
    x, axes = examples(shape), tuple(range(len(shape) - 1))
    norm = drawn_norm(x)
    norm(tf.constant(x), training=True)
    np.testing.assert_allclose(norm.moving_mean, 0.2 * x.mean(axes), rtol=1e-5)
    np.testing.assert_allclose(norm.moving_variance, 0.8 + 0.2 * x.var(axes, ddof=1), rtol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_inference_normalises_with_the_moving_statistics_and_leaves_them(shape):
    x = examples(shape)
    norm = drawn_norm(x)
    norm.moving_mean.assign([1.0, 2.0, 3.0])
    norm.moving_variance.assign([1.0, 4.0, 9.0])
    expected = [0.5, 1.0, 2.0] * (x - [1, 2, 3]) / np.sqrt(np.array([1, 4, 9]) + EPSILON) + [-1.0, 0.0, 3.0]
    np.testing.assert_allclose(norm(tf.constant(x), training=False), expected, rtol=0, atol=1e-5)
    assert norm.moving_mean.numpy().tolist() == [1.0, 2.0, 3.0]


def test_variables_have_the_documented_names_and_only_two_are_trained():
    norm = drawn_norm(examples((4, 3)))
    assert [variable.path for variable in norm.trainable_variables] == ["norm/gamma", "norm/beta"]
    assert [variable.path for variable in norm.non_trainable_variables] == ["norm/moving_mean", "norm/moving_variance"]


def test_gamma_starts_at_one_or_is_drawn_around_it():
    exact, drawn = BatchNorm("norm"), BatchNorm("norm", initial_std=0.02)
    for norm in (exact, drawn):
        norm.build((None, 4000))
    assert (exact.gamma.numpy() == 1.0).all()
    assert drawn.gamma.numpy().mean() == pytest.approx(1.0, abs=0.002)
    assert drawn.gamma.numpy().std() == pytest.approx(0.02, rel=0.06)


def test_bfloat16_features_are_normalised_with_float32_statistics():
    x = examples((64, 4, 4, 3))
    norm = BatchNorm("norm", dtype="mixed_bfloat16")
    y = norm(tf.constant(x), training=True)
    assert y.dtype == tf.bfloat16
    assert {variable.dtype for variable in norm.variables} == {"float32"}
    np.testing.assert_allclose(norm.moving_mean, 0.1 * x.mean((0, 1, 2)), rtol=5e-3)
    np.testing.assert_allclose(tf.cast(y, tf.float32).numpy().std((0, 1, 2)), 1.0, rtol=5e-3)
    assert norm(tf.constant(x), training=False).dtype == tf.bfloat16


def written_out(x: tf.Tensor, stop_mean: bool) -> tf.Tensor:
    """Normalisation in plain operations; `stop_mean` is the mistake of tf.nn.moments."""
    axes = list(range(len(x.shape) - 1))
    mean = tf.reduce_mean(x, axes)
    inner = tf.stop_gradient(mean) if stop_mean else mean
    variance = tf.reduce_mean(tf.square(x - inner), axes)
    return (x - mean) * tf.math.rsqrt(variance + EPSILON)


def penalty_gradient(norm: Callable[[tf.Tensor], tf.Tensor], x: np.ndarray) -> np.ndarray:
    """d/dx of |d/dx sum r softplus(2 norm(softplus(x)))|^2: a gradient penalty through a nonlinear net."""
    examples_, weights = tf.constant(x), tf.constant(examples(x.shape, 1), x.dtype)

    @tf.function
    def compute(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                total = tf.reduce_sum(weights * tf.math.softplus(2 * norm(tf.math.softplus(x))))
            penalty = tf.reduce_sum(tf.square(inner.gradient(total, x)))
        return outer.gradient(penalty, x)

    return compute(examples_).numpy()


@pytest.mark.parametrize("shape", SHAPES)
def test_second_derivatives_equal_those_of_the_written_out_formula(shape):
    x = examples(shape)
    norm = BatchNorm("norm")
    norm(tf.constant(x))
    ours = penalty_gradient(lambda x: norm(x, training=True), x)
    exact, mistaken = (
        penalty_gradient(lambda x, stop=stop: written_out(x, stop), x.astype(np.float64)) for stop in (False, True)
    )
    size = np.linalg.norm(exact)
    assert np.linalg.norm(ours - exact) < 1e-4 * size
    assert np.linalg.norm(mistaken - exact) > 1e-3 * size  # what this test would catch


def test_dropout_keeps_the_mean_drops_its_share_and_draws_anew_each_call():
    dropout, x = Dropout(0.3, "dropout"), tf.ones([100, 100])
    first, second = dropout(x, training=True).numpy(), dropout(x, training=True).numpy()
    assert (first == 0).mean() == pytest.approx(0.3, abs=0.03)
    assert np.unique(first).tolist() == pytest.approx([0.0, 1 / 0.7])
    assert not np.array_equal(first, second)
    assert np.array_equal(dropout(x, training=False), x)


def test_the_seed_state_of_dropout_is_a_variable_named_after_its_layer():
    for _ in range(2):
        keras.random.SeedGenerator(1)  # advances Keras' counter of automatic names
        dropout = Dropout(0.5, "dropout")
        dropout.build((None, 3))
        assert [variable.path for variable in dropout.variables] == ["dropout/seeds/seed_generator_state"]


@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_a_block_is_linear_then_leaky_relu(slope):
    x = examples((5, 4))
    block = Block("block", keras.layers.Dense(3, name="dense"), Finish("none", 0.9, None, slope, 0.0, "float32"))
    y = block(tf.constant(x), training=True).numpy()
    linear = x @ block.linear.kernel.numpy()
    np.testing.assert_allclose(y, np.maximum(linear, slope * linear), atol=1e-5)


def test_a_block_built_and_trained_under_a_strategy_moves_its_statistics_alike():
    x = examples((8, 3))
    strategy = tf.distribute.MirroredStrategy(["CPU:0"], tf.distribute.ReductionToOneDevice())
    with strategy.scope():
        norm = BatchNorm("norm")
        norm.build((None, 3))
    strategy.run(tf.function(lambda: norm(tf.constant(x), training=True)))
    np.testing.assert_allclose(norm.moving_mean.numpy(), 0.1 * x.mean(0), rtol=1e-5)


def plain_relu(x: tf.Tensor, slope: float) -> tf.Tensor:
    return tf.nn.leaky_relu(x, slope) if slope else tf.nn.relu(x)


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_the_leaky_relu_has_the_bits_of_tensorflows_in_value_gradient_and_second_gradient(slope):
    x = np.r_[examples((200,)) - 2.0, 0.0, -0.0, 1e-45, -1e-45, np.inf, -np.inf].astype(np.float32)

    def derivatives(function: Callable) -> list[np.ndarray]:
        with tf.GradientTape() as outer:
            outer.watch(point := tf.constant(x))
            with tf.GradientTape() as inner:
                inner.watch(point)
                y = function(point, slope)
                total = tf.reduce_sum(tf.exp(-tf.square(y)))
            first = inner.gradient(total, point)
            squares = tf.reduce_sum(tf.square(first))
        return [y.numpy(), first.numpy(), outer.gradient(squares, point).numpy()]

    for found, expected in zip(derivatives(leaky_relu), derivatives(plain_relu), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert np.abs(derivatives(leaky_relu)[2][:200]).max() > 0.1


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_what_is_not_a_number_comes_out_of_a_compiled_block_as_such(slope):
    """oneDNN's own ReLU, joined to a product and its bias, makes 0 of NaN: a run would go on with what is not finite."""
    finish = Finish("none", 0.9, None, slope, 0.0, "float32")
    block = Block("block", keras.layers.Dense(4, name="dense"), finish)
    x = examples((8, 3))
    block(tf.constant(x))
    x[2, 1] = np.nan
    found = np.isnan(tf.function(block, autograph=False)(tf.constant(x)).numpy())
    np.testing.assert_array_equal(found, np.repeat(np.arange(8)[:, None] == 2, 4, axis=1))
