"""Resampling and convolution in one, against one after the other: values, gradients, second gradients."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from gantrain.models.maps import enlarge, shrink
from gantrain.models.resampling import convolve_and_shrink, enlarge_and_convolve
from gantrain.models.spectral import spectral

FORMS = {
    "up": (lambda layer, x: layer(enlarge(x)), enlarge_and_convolve),
    "down": (lambda layer, x: shrink(layer(x)), convolve_and_shrink),
}
X = np.random.default_rng(0).normal(size=(2, 6, 4, 3))


def derivatives(function, layer: keras.layers.Layer, given: np.ndarray = X) -> list[np.ndarray]:
    """Value, the gradient to x, to the kernel and the bias, and the gradient of |gradient to x|^2 to kernel and x."""
    x, variables = tf.constant(given), [variable.value for variable in layer.trainable_variables]
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(layer, x)
            loss = tf.reduce_sum(tf.sin(y))
        slope = inner.gradient(loss, x)
        bent = tf.reduce_sum(tf.square(slope))
    return [value.numpy() for value in (y, slope, *outer.gradient(loss, variables), *outer.gradient(bent, [variables[0], x]))]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 3, 5])
def test_both_forms_and_all_their_derivatives_are_equal_in_float64(form: str, size: int):
    layer = keras.layers.Conv2D(5, size, padding="same", bias_initializer="normal", dtype="float64")
    layer.build((None, 6, 4, 3))
    for plain, fused in zip(*(derivatives(function, layer) for function in FORMS[form]), strict=True):
        assert plain.shape == fused.shape
        np.testing.assert_allclose(fused, plain, rtol=1e-12, atol=1e-12 * np.abs(plain).max())


@pytest.mark.parametrize(("height", "width"), [(7, 5), (6, 5), (3, 2)])
def test_odd_sides_lose_their_last_place_in_both_forms(height: int, width: int):
    layer = keras.layers.Conv2D(5, 3, padding="same", dtype="float64")
    layer.build((None, height, width, 3))
    x = np.random.default_rng(1).normal(size=(2, height, width, 3))
    for plain, fused in zip(*(derivatives(function, layer, x) for function in FORMS["down"]), strict=True):
        np.testing.assert_allclose(fused, plain, rtol=1e-12, atol=1e-12 * np.abs(plain).max())


@pytest.mark.parametrize("form", FORMS)
def test_the_normalised_kernel_is_the_one_that_is_spread(form: str):
    layer = spectral(keras.layers.Conv2D(5, 3, padding="same", name="conv"), True)
    layer.build((None, 6, 4, 3))
    plain, fused = FORMS[form]
    x = tf.constant(X, tf.float32)
    np.testing.assert_allclose(fused(layer, x), plain(layer, x), rtol=0, atol=2e-6)
    before = layer.singular_vector.numpy()
    fused(layer, x, training=True)
    assert np.abs(layer.singular_vector.numpy() - before).max() > 1e-4  # one power iteration


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_the_computation_has_the_dtype_of_the_policy(dtype: str):
    layer = keras.layers.Conv2D(5, 3, padding="same", dtype=dtype)
    layer.build((None, 6, 4, 3))
    assert enlarge_and_convolve(layer, tf.constant(X, tf.float32)).dtype == layer.compute_dtype
    assert convolve_and_shrink(layer, tf.constant(X, tf.float32)).dtype == layer.compute_dtype
