"""Spectral normalisation: the value, the gradient through sigma, and which calls move its vector."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from gantrain.models.spectral import SpectralNorm
from gantrain.training.nets import Net
from tests.helpers import changed, snapshot, tiny_experiment

LAYERS = {
    "dense": (lambda: keras.layers.Dense(5, name="l"), (6,)),
    "conv": (lambda: keras.layers.Conv2D(5, 3, 2, "same", name="l"), (8, 8, 3)),
    "transposed": (lambda: keras.layers.Conv2DTranspose(5, 4, 2, "same", name="l"), (4, 4, 3)),
    "stride_1": (lambda: keras.layers.Conv2DTranspose(5, 3, 1, "same", use_bias=False, name="l"), (4, 4, 3)),
}


def made(name):
    keras.utils.set_random_seed(1)
    layer, shape = LAYERS[name]
    spectral = SpectralNorm(layer())
    x = tf.constant(np.random.default_rng(0).normal(size=(2, *shape)), tf.float32)
    spectral(x)
    return spectral, x


def largest_singular_value(spectral):
    return np.linalg.svd(spectral._matrix().numpy(), compute_uv=False)[0]


@pytest.mark.parametrize("name", LAYERS)
def test_after_some_calls_it_is_the_layer_with_its_kernel_over_the_largest_singular_value(name):
    spectral, x = made(name)
    for _ in range(300):
        y = spectral(x, training=True)
    kernel = spectral.layer.kernel
    kernel.assign(kernel / largest_singular_value(spectral))
    np.testing.assert_allclose(y, spectral.layer(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_the_gradient_passes_through_sigma_so_that_a_longer_kernel_changes_nothing(name):
    spectral, x = made(name)
    for _ in range(50):
        spectral(x, training=True)
    kernel = spectral.layer.kernel.value
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.sin(spectral(x, training=True)))
    gradient = tape.gradient(total, kernel).numpy()
    assert np.abs(gradient).max() > 1e-3
    assert abs((gradient * kernel.numpy()).sum()) < 1e-4 * np.abs(gradient * kernel.numpy()).sum()


def test_only_training_mode_moves_the_vector_and_the_raw_kernel_is_never_touched():
    spectral, x = made("conv")
    before = snapshot({variable.path: variable for variable in spectral.variables})
    spectral(x, training=False)
    assert not changed(before, snapshot({variable.path: variable for variable in spectral.variables}))
    spectral(x, training=True)
    assert changed(before, snapshot({variable.path: variable for variable in spectral.variables})) == {
        "spectral_l/singular_vector"
    }
    assert np.linalg.norm(spectral.singular_vector) == pytest.approx(1.0, abs=1e-6)


def test_the_generators_pass_and_penalties_leave_the_vectors_where_the_discriminators_calls_put_them():
    """Two calls a step, real and fake, are two iterations, whatever else looks through the net."""
    plain = {"discriminator.norm": "spectral_norm", "optimizers.discriminator": {"name": "sgd", "learning_rate": 1e-12}}
    ends = []
    for penalties in ([], ["r1", "gradient_penalty"]):
        experiment = tiny_experiment({**plain, "objective": {"penalties": penalties}}, started=True)
        net: Net = experiment.discriminator
        start = {key: value.numpy() for key, value in net.variables.items() if key.endswith("singular_vector")}
        experiment.engine.run(3)
        ends.append({key: net.variables[key].numpy() for key in start})
    assert len(start) == 3
    for key, vector in start.items():
        kernel = net.variables[key.replace("singular_vector", key.split("spectral_")[1].split("/")[0] + "/kernel")].numpy()
        for _ in range(6):
            left = kernel @ vector
            vector = left @ kernel
            vector = vector / np.linalg.norm(vector)
        for end in ends:
            np.testing.assert_allclose(end[key], vector, atol=1e-5)


def test_it_normalises_in_float32_under_mixed_precision():
    spectral = SpectralNorm(keras.layers.Dense(4, name="l", dtype="mixed_bfloat16"), "mixed_bfloat16")
    assert spectral(tf.ones([2, 3]), training=True).dtype == tf.bfloat16
    assert {variable.dtype for variable in spectral.variables} == {"float32"}
