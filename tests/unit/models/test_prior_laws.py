"""Moments and supports of the laws of the latents, 200,000 numbers each; limits are five standard errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.models.catalog import Normal, TruncatedNormal, Uniform

COUNT = 200_000


def draw(settings) -> np.ndarray:
    return registry.build(settings)(COUNT // 4, 4, tf.constant([11, 12], tf.int64)).numpy().astype(np.float64).ravel()


def check_moments(numbers: np.ndarray, variance: float, fourth: float) -> None:
    """Mean 0, variance and fourth moment as given; E x^8 <= 105 bounds the error of the fourth of all laws here."""
    assert abs(numbers.mean()) < 5 * math.sqrt(variance / COUNT)
    assert abs((numbers**2).mean() - variance) < 5 * math.sqrt((fourth - variance**2) / COUNT)
    assert abs((numbers**4).mean() - fourth) < 5 * math.sqrt((numbers**8).mean() / COUNT)


def test_normal_has_moments_one_and_three():
    numbers = draw(Normal())
    check_moments(numbers, 1.0, 3.0)
    assert 4.0 < np.abs(numbers).max() < 7.0


def test_uniform_fills_minus_one_to_one():
    numbers = draw(Uniform())
    check_moments(numbers, 1 / 3, 1 / 5)
    assert -1.0 <= numbers.min() < -0.999
    assert 0.999 < numbers.max() <= 1.0


@pytest.mark.parametrize("limit", [0.5, 2.0, 6.0])
def test_truncated_normal_ends_at_its_limit_and_has_the_moments_of_the_law(limit):
    numbers = draw(TruncatedNormal(limit=limit))
    inside, density = math.erf(limit / math.sqrt(2)), math.exp(-(limit**2) / 2) / math.sqrt(2 * math.pi)
    variance = 1 - 2 * limit * density / inside
    check_moments(numbers, variance, 3 * variance - 2 * limit**3 * density / inside)
    assert np.abs(numbers).max() <= limit
    assert np.abs(numbers).max() > min(0.99 * limit, 4.0)


def test_truncated_normal_beyond_every_float_is_normal():
    numbers = draw(TruncatedNormal(limit=50.0))
    check_moments(numbers, 1.0, 3.0)
    assert np.isfinite(numbers).all()
