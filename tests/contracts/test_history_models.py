"""Every registered model of task history: what it declares is what its builder makes."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.interfaces import NetContext

NAMES = registry.names("model")


def built(name, shape=(6,), dtype="float32"):
    settings = registry.find("model", name).settings()
    keras.utils.set_random_seed(4)
    return settings, registry.build(settings, NetContext(shape, 0, None, None, dtype))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(6,), (4, 5, 2)])
@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_outputs_have_the_declared_size_in_float32_in_both_modes(name, shape, dtype):
    settings, model = built(name, shape, dtype)
    for training in (False, True):
        outputs = model(tf.ones([3, *shape]), training=training)
        assert (outputs.shape, outputs.dtype) == ((3, settings.output_size()), tf.float32)


@pytest.mark.parametrize("name", NAMES)
def test_every_variable_exists_once_built_and_every_trainable_one_gets_a_gradient(name):
    _, model = built(name)
    count = len(model.variables)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(model(tf.random.stateless_normal([64, 6], [1, 2]), training=True))
    gradients = tape.gradient(total, [variable.value for variable in model.trainable_variables])
    assert count == len(model.variables) > 0
    assert all(gradient is not None and np.any(gradient.numpy() != 0) for gradient in gradients)


@pytest.mark.parametrize("name", NAMES)
def test_equal_seeds_give_equal_weights_under_equal_names(name):
    (_, first), (_, second) = built(name), built(name)
    assert [variable.path for variable in first.variables] == [variable.path for variable in second.variables]
    assert all((a == b).all() for a, b in zip(first.get_weights(), second.get_weights(), strict=True))


def test_the_network_of_32_numbers_is_one_dense_layer_with_a_relu():
    settings, model = built("mlp", (32,))
    assert settings.units == (32,)
    kernel, bias = model.get_weights()
    x = np.random.default_rng(0).normal(size=[5, 32]).astype(np.float32)
    np.testing.assert_allclose(model(x), np.maximum(x @ kernel + bias, 0), rtol=0, atol=1e-5)


def test_the_last_activation_may_differ_from_the_others():
    settings = registry.find("model", "mlp").settings(units=(4, 3), last_activation="linear")
    model = registry.build(settings, NetContext((2,), 0, None, None))
    assert (model(tf.random.stateless_normal([200, 2], [1, 2])).numpy() < 0).any()
