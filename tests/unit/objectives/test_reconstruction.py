"""Losses of reconstructions against sums by hand, and at the ends of their range."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain.objectives.reconstruction import RECONSTRUCTIONS

X = np.array([[[0.0, 1.0], [0.5, 0.25]], [[1.0, 1.0], [0.0, 0.75]]], np.float32)
Y = np.array([[[0.1, 0.8], [0.5, 0.5]], [[0.9, 0.6], [0.3, 0.7]]], np.float32)
BY_HAND = {
    "mse": lambda x, y: (x - y) ** 2,
    "mae": lambda x, y: abs(x - y),
    "binary_cross_entropy": lambda x, y: -x * np.log(y) - (1 - x) * np.log(1 - y),
}


@pytest.mark.parametrize("name", RECONSTRUCTIONS)
def test_the_loss_of_an_example_is_the_mean_over_its_numbers(name):
    x, y = X.astype(np.float64), Y.astype(np.float64)
    by_hand = [np.mean([BY_HAND[name](a, b) for a, b in zip(x[i].ravel(), y[i].ravel(), strict=True)]) for i in range(2)]
    np.testing.assert_allclose(RECONSTRUCTIONS[name](tf.constant(X), tf.constant(Y)), by_hand, rtol=1e-5)


@pytest.mark.parametrize("wrong", [0.0, 1.0])
def test_a_cross_entropy_is_finite_where_a_sigmoid_saturates(wrong):
    y = tf.Variable([[wrong]])
    with tf.GradientTape() as tape:
        loss = RECONSTRUCTIONS["binary_cross_entropy"](tf.constant([[1.0 - wrong]]), y)
    assert float(loss[0]) == pytest.approx(-np.log(1e-6), rel=0.05)
    assert np.isfinite(tape.gradient(loss, y)).all()
