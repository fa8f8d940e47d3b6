"""Losses against closed forms, from both sides."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.interfaces import Loss

REAL, FAKE = [1.0, -2.0], [0.5, -1.0]
VALUES = {  # means over the two examples: of the discriminator, of the generator
    "non_saturating": (1.8637641851, 0.8936693358),
    "minimax": (1.8637641851, -0.6436693358),
    "hinge": (2.25, 0.25),
    "lsgan": (2.5625, 1.0625),
    "wasserstein": (0.25, 0.25),
}
AT_ZERO = {
    "non_saturating": (2 * math.log(2), math.log(2)),
    "minimax": (2 * math.log(2), -math.log(2)),
    "hinge": (2.0, 0.0),
    "lsgan": (0.5, 0.5),
    "wasserstein": (0.0, 0.0),
}


def build(name: str) -> Loss:
    row = registry.find("loss", name)
    assert row is not None
    return registry.build(row.settings())


def means(loss: Loss, real: list[float], fake: list[float]) -> tuple[float, float]:
    logits = tf.constant(real), tf.constant(fake)
    return float(tf.reduce_mean(loss.discriminator(*logits))), float(tf.reduce_mean(loss.generator(*logits)))


@pytest.mark.parametrize("name", VALUES)
def test_values_equal_the_published_ones(name):
    np.testing.assert_allclose(means(build(name), REAL, FAKE), VALUES[name], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", AT_ZERO)
def test_values_at_zero_logits_equal_the_closed_form(name):
    np.testing.assert_allclose(means(build(name), [0.0, 0.0], [0.0, 0.0]), AT_ZERO[name], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", VALUES)
def test_a_discriminator_that_is_right_loses_less_than_one_that_is_wrong(name):
    right, _ = means(build(name), [2.0, 3.0], [-2.0, -1.0])
    wrong, _ = means(build(name), [-2.0, -1.0], [2.0, 3.0])
    assert right < wrong - 1.0


def test_softplus_losses_are_exact_at_a_logit_of_ten_thousand():
    loss, far = build("non_saturating"), tf.constant([1e4])
    assert loss.discriminator(-far, far).numpy() == pytest.approx(2e4, rel=1e-6)
    assert loss.discriminator(far, -far).numpy() == pytest.approx(0.0, abs=1e-30)
    assert loss.generator(far, -far).numpy() == pytest.approx(1e4, rel=1e-6)
    assert build("minimax").generator(far, far).numpy() == pytest.approx(-1e4, rel=1e-6)
