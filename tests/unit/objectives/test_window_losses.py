"""Losses on the last outputs against their equations."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.history_interfaces import WindowContext
from gantrain.objectives import window_losses
from gantrain.objectives.window_catalog import Mse, Smoothness

Z = np.array([[3.0, 4.0, 0.0, 0.0], [1.0, -1.0, 2.0, 1.0]], np.float32)  # two outputs of two numbers, newest first


def built(settings, length=2, size=2):
    return registry.build(settings, WindowContext(length, size))


def test_norm_mse_is_the_squared_distance_of_the_norm_to_the_target():
    found = window_losses.norm_mse(tf.constant(Z), tf.constant([[2.0], [0.5]]))
    np.testing.assert_allclose(found, [(5 - 2) ** 2, (np.sqrt(7) - 0.5) ** 2], rtol=1e-6)


def test_the_norm_at_zero_has_the_gradient_zero_and_elsewhere_the_direction():
    z = tf.constant([[0.0, 0.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(z)
        norm = window_losses.safe_norm(z)
    assert norm.numpy().tolist() == [0.0, 5.0]
    np.testing.assert_allclose(tape.gradient(norm, z), [[0, 0], [0.6, 0.8]], rtol=1e-6)


def test_mse_takes_a_target_of_the_whole_window_or_of_each_output():
    loss = built(Mse())
    whole = np.array([[3.0, 4.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]], np.float32)
    np.testing.assert_allclose(loss(tf.constant(Z), tf.constant(whole)), [1 / 4, 7 / 4], rtol=1e-6)
    each = np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)
    np.testing.assert_allclose(loss(tf.constant(Z), tf.constant(each)), [25 / 4, 7 / 4], rtol=1e-6)


def test_smoothness_is_the_mean_squared_change_and_fit_adds_the_distance_of_the_newest_output():
    np.testing.assert_allclose(built(Smoothness())(tf.constant(Z), None), [25 / 2, 5 / 2], rtol=1e-6)
    target = tf.constant([[3.0, 2.0], [1.0, -1.0]])
    np.testing.assert_allclose(built(Smoothness(fit=0.5))(tf.constant(Z), target), [25 / 2 + 0.5 * 2, 5 / 2], rtol=1e-6)


@pytest.mark.parametrize(("settings", "sizes"), [(Mse(), (8, 2)), (Smoothness(), None), (Smoothness(fit=1), (2,))])
def test_losses_say_which_targets_they_take(settings, sizes):
    assert settings.target_sizes(WindowContext(4, 2)) == sizes
