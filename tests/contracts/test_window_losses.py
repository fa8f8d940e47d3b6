"""Every registered loss on the last outputs: form, finiteness at Z = 0, gradients, and the targets it says it takes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.history_interfaces import WindowContext

CONTEXT = WindowContext(length=3, size=2)
CASES = [(row.name, size) for row in registry.rows("window_loss") for size in row.settings().target_sizes(CONTEXT) or (1, 5)]
ROWS = 5


def loss_and_target(name, size):
    row = registry.find("window_loss", name)
    target = np.random.default_rng(1).uniform(0.5, 2, [ROWS, size]).astype(np.float32)
    return registry.build(row.settings(), CONTEXT), tf.constant(target)


def value_and_gradient(loss, z, target):
    z = tf.constant(z, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(z)
        value = loss(z, target)
    return value, tape.gradient(value, z).numpy()


@pytest.mark.parametrize(("name", "size"), CASES)
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_it_gives_one_float32_number_per_example_that_is_never_negative(name, size, dtype):
    loss, target = loss_and_target(name, size)
    value = loss(tf.cast(tf.random.stateless_normal([ROWS, 6], [1, 2]), dtype), target)
    assert (value.shape, value.dtype) == ((ROWS,), tf.float32)
    assert (value.numpy() >= 0).all()


@pytest.mark.parametrize(("name", "size"), CASES)
def test_at_zero_value_and_gradient_are_finite(name, size):
    value, gradient = value_and_gradient(*loss_and_target(name, size)[:1], np.zeros([ROWS, 6]), loss_and_target(name, size)[1])
    assert np.isfinite(value.numpy()).all()
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize(("name", "size"), CASES)
def test_gradients_agree_with_differences_and_examples_do_not_mix(name, size):
    loss, target = loss_and_target(name, size)
    z, step = np.random.default_rng(2).normal(size=[ROWS, 6]).astype(np.float32), 1e-2
    _, found = value_and_gradient(loss, z, target)
    for place in np.ndindex(z.shape):
        up, down = z.copy(), z.copy()
        up[place] += step
        down[place] -= step
        slope = (loss(tf.constant(up), target) - loss(tf.constant(down), target)).numpy() / (2 * step)
        assert slope[place[0]] == pytest.approx(found[place], abs=3e-3)  # float32 differences of values up to ten
        assert not np.delete(slope, place[0]).any()


def test_the_shortest_window_a_loss_accepts_gives_a_finite_loss():
    for row in registry.rows("window_loss"):
        context = WindowContext(row.settings().least_length(), 2)
        size = (row.settings().target_sizes(context) or (1,))[0]
        loss = registry.build(row.settings(), context)
        assert np.isfinite(loss(tf.ones([1, 2 * context.length]), tf.ones([1, size])).numpy()).all()
