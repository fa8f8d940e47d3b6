"""Priors in the plane: moments and support against closed forms, labels, sizes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.models.prior_catalog import MixturePrior, SwissRoll

COUNT = 40_000
KEY = tf.constant([11, 3], tf.int64)


def draw(settings, size: int = 2, *labels) -> np.ndarray:
    return registry.build(settings)(COUNT, size, KEY, *labels).numpy().astype(np.float64)


def assert_moments(values: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> None:
    """Within five standard errors, which are estimated from the values themselves."""
    centred = values - mean
    products = centred[:, :, None] * centred[:, None, :]
    assert (np.abs(values.mean(0) - mean) < 5 * values.std(0) / np.sqrt(COUNT)).all()
    assert (np.abs(products.mean(0) - covariance) <= 5 * products.std(0) / np.sqrt(COUNT) + 1e-12).all()


def test_a_mixture_has_the_moments_of_its_circle_and_its_gaussians():
    # around a circle of at least three modes, E zz' = (radius^2 + radial_std^2 + std^2) / 2 in the plane, std^2 elsewhere
    values = draw(MixturePrior(modes=7, radius=2.0, std=0.3, radial_std=0.8), 4)
    plane = (4.0 + 0.64 + 0.09) / 2
    assert_moments(values, np.zeros(4), np.diag([plane, plane, 0.09, 0.09]))


def test_each_label_has_its_own_mode_and_modes_repeat():
    labels = tf.constant(np.arange(COUNT) % 8)
    values = draw(MixturePrior(modes=4, radius=3.0, std=0.2, radial_std=0.5, by_label=True), 2, labels)
    for label in range(8):
        angle = 2 * np.pi * label / 4
        out, along = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        own = values[label::8]
        for axis, mean, std in ((out, 3.0, 0.5), (along, 0.0, 0.2)):
            numbers = own @ axis
            assert abs(numbers.mean() - mean) < 5 * std / np.sqrt(len(own))
            assert abs(numbers.std() - std) < 5 * std / np.sqrt(2 * len(own))


def test_every_mode_is_as_likely_as_the_others():
    values = draw(MixturePrior(modes=5, radius=3.0, std=0.1))
    modes = np.rint(np.arctan2(values[:, 1], values[:, 0]) / (2 * np.pi / 5)).astype(int) % 5
    shares = np.bincount(modes, minlength=5) / COUNT
    assert (np.abs(shares - 0.2) < 5 * np.sqrt(0.2 * 0.8 / COUNT)).all()


def test_a_swiss_roll_without_noise_lies_on_its_spiral_and_reaches_its_end():
    settings = SwissRoll(turns=1.5, radius=3.0)
    values = draw(settings)
    t = np.hypot(*values.T) / 3.0
    angle = 2 * np.pi * 1.5 * t
    spiral = 3.0 * t[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    assert np.abs(values - spiral).max() < 1e-4  # float32 at an angle of up to 9.4
    assert 0.999 < t.max() < 1.0
    assert t.min() < 0.02


def test_a_swiss_roll_has_the_moments_of_its_spiral_and_its_noise():
    settings, noise = SwissRoll(turns=2.0, radius=3.0, std=0.25), 0.25**2
    u = (np.arange(1_000_000) + 0.5) / 1_000_000  # the midpoint rule: exact to 1e-9 here
    t = np.sqrt(u)
    spiral = 3.0 * t[:, None] * np.stack([np.cos(4 * np.pi * t), np.sin(4 * np.pi * t)], axis=1)
    mean, centred = spiral.mean(0), spiral - spiral.mean(0)
    assert_moments(draw(settings), mean, centred.T @ centred / len(u) + noise * np.eye(2))


def test_the_length_of_the_spiral_is_evenly_covered():
    t = np.hypot(*draw(SwissRoll(turns=2.0, radius=3.0)).T) / 3.0
    steps = np.linspace(0, 1, 200_001)
    length = np.cumsum(np.hypot(1.0, 4 * np.pi * steps))
    covered = np.interp(t, steps, length / length[-1])
    shares = np.histogram(covered, 10, (0, 1))[0] / COUNT
    assert np.abs(shares - 0.1).max() < 0.02  # t = sqrt(u) is exact for the angle alone: the first part gets a little less


@pytest.mark.parametrize(("settings", "size"), [(MixturePrior(), 1), (SwissRoll(), 1), (SwissRoll(), 3)])
def test_a_size_without_a_plane_is_refused_with_the_size_to_write(settings, size):
    assert "size: 2" in str(settings.fits(size))
    assert settings.fits(2) is None
