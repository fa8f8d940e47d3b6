"""Mode coverage by samples whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from gantrain.data.catalog import Digits, GaussianMixture
from gantrain.data.gaussian_mixture import modes
from gantrain.evaluation.mode_coverage import mode_coverage
from gantrain.evaluation.scores import score_for

GRID = GaussianMixture(layout="grid")
CENTRES = modes(GRID)


def samples_of(settings, count, which=None, std=None):
    random = np.random.default_rng(0)
    centres = modes(settings)[random.choice(settings.modes if which is None else which, count)]
    return centres + (settings.std if std is None else std) * random.standard_normal((count, 2))


def test_the_mixture_itself_covers_all_modes_with_the_share_within_three_deviations():
    coverage = mode_coverage(samples_of(GRID, 10_000), CENTRES, GRID.std)
    assert coverage.modes == 25
    assert coverage.high_quality == pytest.approx(1 - np.exp(-4.5), abs=0.003)  # Rayleigh: 98.9% in the plane


def test_only_modes_that_are_sampled_are_covered():
    assert mode_coverage(samples_of(GRID, 10_000, [3, 7, 20]), CENTRES, GRID.std).modes == 3


@pytest.mark.parametrize(("near", "covered"), [(99, 0), (100, 1)])
def test_a_mode_is_covered_from_a_hundred_of_ten_thousand_samples(near, covered):
    samples = np.full((10_000, 2), 100.0)
    samples[:near] = CENTRES[4]
    coverage = mode_coverage(samples, CENTRES, 0.05)
    assert coverage == (covered, near / 10_000)


@pytest.mark.parametrize(("distance", "share"), [(2.99, 1.0), (3.01, 0.0)])
def test_near_is_within_three_deviations_by_the_euclidean_distance(distance, share):
    samples = CENTRES[:1] + distance * 0.05 * np.array([[0.6, 0.8]])
    assert mode_coverage(samples, CENTRES, 0.05).high_quality == share


def test_samples_that_are_not_finite_are_near_nothing():
    assert mode_coverage(np.array([[np.nan, 0.0], [np.inf, 0.0], [0.0, 0.0]]), CENTRES, 0.05).high_quality == pytest.approx(1 / 3)


def test_a_mixture_has_scores_and_pictures_have_none():
    score = score_for(GRID)
    assert score is not None
    assert score(samples_of(GRID, 10_000))["eval/mode_coverage"] == 25
    assert score_for(Digits()) is None
