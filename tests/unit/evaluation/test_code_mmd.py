"""The distance of codes to their prior, against sums by hand and laws whose distance is known."""

from __future__ import annotations

import numpy as np
import pytest

from gantrain.evaluation.code_mmd import CodeScore, mmd, squared_distances


def normal(seed: int, count: int = 600, size: int = 3, shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(shift, 1.0, (count, size)).astype(np.float32)


def test_distances_are_those_of_a_plain_loop():
    x, y = normal(1, 5), normal(2, 4)
    loop = [[sum((float(a) - float(b)) ** 2 for a, b in zip(row, other, strict=True)) for other in y] for row in x]
    np.testing.assert_allclose(squared_distances(x, y), loop, rtol=1e-12, atol=1e-12)


def test_the_distance_is_that_of_a_plain_loop_over_all_pairs():
    x, y, bandwidth = normal(1, 6), normal(2, 9), 1.3

    def mean(first, second):
        return np.mean([np.exp(-np.sum((a - b) ** 2) / (2 * bandwidth**2)) for a in first for b in second])

    x, y = x.astype(np.float64), y.astype(np.float64)
    assert mmd(x, y, bandwidth) == pytest.approx(np.sqrt(mean(x, x) + mean(y, y) - 2 * mean(x, y)), rel=1e-9)
    assert mmd(x, x, bandwidth) == pytest.approx(0, abs=1e-7)


def test_codes_of_the_prior_are_about_the_floor_away_and_other_codes_are_not():
    score = CodeScore(lambda number: normal(100 + number))
    same, shifted, narrow = score.of(normal(1)), score.of(normal(1, shift=0.5)), score.of(0.3 * normal(1))
    assert set(same) == {"eval/code_mmd", "eval/code_mmd_floor"}
    assert 0.5 < same["eval/code_mmd"] / score.floor < 2
    assert shifted["eval/code_mmd"] > 5 * score.floor
    assert narrow["eval/code_mmd"] > 5 * score.floor


def test_the_floor_is_that_of_the_law_of_large_numbers():
    # biased MMD^2 of n against n of one law is 2 (1 - E k(x,y)) / n in the mean
    score = CodeScore(lambda number: normal(100 + number))
    kernel = np.exp(squared_distances(normal(1), normal(2)) / (-2 * score.bandwidth**2)).mean()
    assert score.floor == pytest.approx(np.sqrt(2 * (1 - kernel) / 600), rel=0.15)


def test_the_bandwidth_is_the_median_distance_of_the_prior():
    # |x - y|^2 of N(0, 1)^3 is 2 chi^2 with 3 degrees of freedom, whose median is 2.366
    score = CodeScore(lambda number: normal(100 + number, 2000))
    assert score.bandwidth == pytest.approx(np.sqrt(2 * 2.366), rel=0.02)
