"""The moving average: published half-lives, the ramp, and what is averaged."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain.spec.model import Ema
from gantrain.training.ema import ema_beta, update_average


@pytest.mark.parametrize(
    ("batch", "half_life", "beta"),
    [
        (64, 500_000, 0.9999112811),
        (32, 10_000, 0.9977843871),
        (64, 20_000, 0.9977843871),
        (512, 5_000_000, 0.9999290242),
        (256, 500_000, 0.9996451716),
    ],
)
def test_beta_is_half_to_the_power_of_batch_over_half_life(batch, half_life, beta):
    assert float(ema_beta(Ema(half_life_images=half_life, ramp=None), batch, tf.constant(0))) == pytest.approx(beta, abs=1e-7)


def test_the_ramp_limits_the_half_life_to_a_share_of_the_images_seen():
    settings = Ema(half_life_images=10_000, ramp=0.05)
    early = float(ema_beta(settings, 64, tf.constant(20_000, tf.int64)))
    assert early == pytest.approx(0.5 ** (64 / 1000), rel=1e-6)
    for seen in (200_000, 3_000_000_000):  # the second needs more than 32 bits
        assert float(ema_beta(settings, 64, tf.constant(seen, tf.int64))) == pytest.approx(0.5 ** (64 / 10_000), rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "seen"), [(Ema(half_life_images=0, ramp=None), 1000), (Ema(), 0), (Ema(half_life_images=0), 0)]
)
def test_a_half_life_of_zero_is_a_copy(settings, seen):
    assert float(ema_beta(settings, 64, tf.constant(seen, tf.int64))) == 0.0


def test_after_one_half_life_of_ones_an_average_of_zeros_is_one_half():
    beta = ema_beta(Ema(half_life_images=1024, ramp=None), 64, tf.constant(0))
    average, ones = {"w": tf.Variable([0.0])}, {"w": tf.Variable([1.0])}
    for step in range(16):
        assert average["w"].numpy() < 0.5, step
        update_average(average, ones, {"w"}, beta)
    assert average["w"].numpy() == pytest.approx(0.5, abs=1e-6)


def test_parameters_and_statistics_are_averaged_and_other_state_is_copied():
    keys = ("l/kernel", "l/norm/moving_mean", "l/norm/moving_variance", "l/dropout/seeds/state")
    average = {key: tf.Variable([4.0]) for key in keys}
    update_average(average, {key: tf.Variable([8.0]) for key in keys}, {"l/kernel"}, tf.constant(0.75))
    np.testing.assert_array_equal([average[key].numpy()[0] for key in keys], [5.0, 5.0, 5.0, 8.0])
