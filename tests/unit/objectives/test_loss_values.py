"""Losses against closed forms, from both sides."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.interfaces import Loss
from gantrain.objectives.catalog import LeastSquares, Minimax, NonSaturating

REAL, FAKE = [1.0, -2.0], [0.5, -1.0]
VALUES = {  # means over the two examples: of the discriminator, of the generator
    "non_saturating": (1.8637641851, 0.8936693358),
    "minimax": (1.8637641851, -0.6436693358),
    "hinge": (2.25, 0.25),
    "lsgan": (2.5625, 1.0625),
    "wasserstein": (0.25, 0.25),
    "rpgan": (0.8936693358, 0.6436693358),
    # the generator's side by hand: means over sp(-(f - mean r)) + sp(r - mean f), mean r = -0.5, mean f = -0.25
    "relativistic_average": (1.9747459517, sum(math.log1p(math.exp(x)) for x in (-1.0, 0.5, 1.25, -1.75)) / 2),
}
AT_ZERO = {
    "non_saturating": (2 * math.log(2), math.log(2)),
    "minimax": (2 * math.log(2), -math.log(2)),
    "hinge": (2.0, 0.0),
    "lsgan": (0.5, 0.5),
    "wasserstein": (0.0, 0.0),
    "rpgan": (math.log(2), math.log(2)),
    "relativistic_average": (2 * math.log(2), 2 * math.log(2)),
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


def softplus(x: float) -> float:
    return math.log1p(math.exp(x))


def test_label_smoothing_takes_the_real_target_down_and_leaves_the_fake_one():
    smooth = registry.build(NonSaturating(label_smoothing=0.1))
    value = smooth.discriminator(tf.constant([2.0]), tf.constant([-1.0]))
    assert float(value[0]) == pytest.approx(0.9 * softplus(-2.0) + 0.1 * softplus(2.0) + softplus(-1.0), abs=1e-6)
    squared = registry.build(LeastSquares(label_smoothing=0.1)).discriminator(tf.constant([2.0]), tf.constant([-1.0]))
    assert float(squared[0]) == pytest.approx(0.5 * 1.1**2 + 0.5, abs=1e-6)


@pytest.mark.parametrize(
    "settings", [NonSaturating(flipped_share=0.25), Minimax(flipped_share=0.25), LeastSquares(flipped_share=0.25)]
)
def test_a_share_of_each_batch_is_seen_with_real_and_fake_exchanged_and_only_by_the_discriminator(settings):
    plain, flipped = registry.build(type(settings)()), registry.build(settings)
    real, fake = tf.constant([1.0, 2.0, 3.0, 4.0]), tf.constant([-1.0, -2.0, -3.0, -4.0])
    expected = np.concatenate([plain.discriminator(fake[:1], real[:1]), plain.discriminator(real[1:], fake[1:])])
    np.testing.assert_allclose(flipped.discriminator(real, fake), expected, rtol=1e-6)
    np.testing.assert_array_equal(flipped.generator(real, fake), plain.generator(real, fake))
