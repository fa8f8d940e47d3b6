"""Each optimizer against its equation in float64."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.training import catalog

STEPS = 7


def adam(s, w, grads):
    m = v = np.zeros_like(w)
    for t, g in enumerate(grads, 1):
        m = s.beta_1 * m + (1 - s.beta_1) * g
        v = s.beta_2 * v + (1 - s.beta_2) * g**2
        rate = s.learning_rate * np.sqrt(1 - s.beta_2**t) / (1 - s.beta_1**t)
        w = w - rate * m / (np.sqrt(v) + s.epsilon)
    return w


def rmsprop(s, w, grads):
    v = np.zeros_like(w)
    for g in grads:
        v = s.rho * v + (1 - s.rho) * g**2
        w = w - s.learning_rate * g / np.sqrt(v + s.epsilon)
    return w


def sgd(s, w, grads):
    a = np.zeros_like(w)
    for g in grads:
        a = s.momentum * a + g
        w = w - s.learning_rate * a
    return w


@pytest.mark.parametrize(
    ("settings", "reference"),
    [
        (catalog.Adam(learning_rate=0.01), adam),
        (catalog.Adam(learning_rate=0.01, beta_1=0.0, beta_2=0.9, epsilon=1e-3), adam),
        (catalog.RmsProp(learning_rate=0.01), rmsprop),
        (catalog.RmsProp(learning_rate=0.01, rho=0.5, epsilon=0.1), rmsprop),
        (catalog.Sgd(learning_rate=0.1), sgd),
        (catalog.Sgd(learning_rate=0.1, momentum=0.9), sgd),
    ],
)
def test_several_updates_follow_the_equation(settings, reference):
    random = np.random.default_rng(0)
    start = {"a/kernel": random.standard_normal((3, 4)), "a/bias": random.standard_normal(4)}
    grads = {key: [random.standard_normal(value.shape) for _ in range(STEPS)] for key, value in start.items()}
    variables = {key: tf.Variable(value, dtype=tf.float32) for key, value in start.items()}
    optimizer = registry.build(settings, variables)
    update = tf.function(optimizer.apply, autograph=False)
    for step in range(STEPS):
        update([tf.constant(grads[key][step], tf.float32) for key in start], tf.constant(settings.learning_rate, tf.float32))
    for key, value in start.items():
        wanted = reference(settings, value, grads[key])
        assert np.abs(wanted - value).max() > 1e-3
        np.testing.assert_allclose(variables[key].numpy(), wanted, rtol=0, atol=1e-6, err_msg=key)


def test_slots_are_keyed_by_their_variable_and_updates_are_counted():
    variables = {"generator/out/kernel": tf.Variable([[1.0]]), "generator/out/bias": tf.Variable([1.0])}
    optimizer = registry.build(catalog.Adam(), variables)
    assert set(optimizer.variables) == {"updates", *(f"{key}/{slot}" for key in variables for slot in "mv")}
    for _ in range(3):
        optimizer.apply([tf.constant([[1.0]]), tf.constant([1.0])], tf.constant(0.1))
    assert optimizer.variables["updates"].numpy() == 3
