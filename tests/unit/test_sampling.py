"""Image i depends only on (seed, i)."""

# ruff: noqa: ARG005  a stand-in keeps the signature

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain.sampling import Sampler
from tests.helpers import BATCH_NORM, tiny_experiment


@pytest.fixture(scope="module")
def sampler():
    return tiny_experiment(BATCH_NORM).sampler


@pytest.fixture(scope="module")
def hundred(sampler):
    return sampler.draw(3, 100)


@pytest.mark.parametrize("count", [1, 4, 63, 64, 65, 70])
def test_image_i_is_the_same_to_the_byte_for_any_count(sampler, hundred, count):
    drawn = sampler.draw(3, count)
    assert drawn.shape == (count, 8, 8, 1)
    assert drawn.dtype == np.float32
    assert drawn.tobytes() == hundred[:count].tobytes()
    assert sampler.latents(3, count).tobytes() == sampler.latents(3, 100)[:count].tobytes()


@pytest.mark.parametrize("batch_size", [1, 7, 64, 100])
def test_another_batch_size_has_equal_latents_and_the_same_images_up_to_rounding(sampler, hundred, batch_size):
    other = Sampler(sampler._generator, sampler._prior, 4, None, batch_size)
    assert other.latents(3, 100).tobytes() == sampler.latents(3, 100).tobytes()
    np.testing.assert_allclose(other.draw(3, 100), hundred, rtol=0, atol=1e-5)


def test_images_and_seeds_differ(sampler, hundred):
    assert len(np.unique(sampler.latents(3, 100).round(6), axis=0)) == 100
    assert not (sampler.latents(4, 100) == sampler.latents(3, 100)).any()
    assert np.abs(sampler.draw(4, 100) - hundred).max() > 1e-3


def test_sampling_never_moves_a_variable(sampler):
    before = [variable.numpy().tobytes() for variable in sampler._generator.variables]
    sampler.draw(0, 5)
    assert [variable.numpy().tobytes() for variable in sampler._generator.variables] == before


def test_a_conditional_generator_takes_the_classes_in_turn_or_those_asked_for():
    seen = []

    def generator(latents, labels, training):
        assert training is False
        seen.append(labels.shape[0])
        return tf.cast(labels, tf.float32)[:, None]

    sampler = Sampler(generator, lambda count, size, key: tf.zeros([count, size]), 2, 3, 4)
    np.testing.assert_array_equal(sampler.draw(0, 6)[:, 0], [0, 1, 2, 0, 1, 2])
    np.testing.assert_array_equal(sampler.draw(0, 5, np.full(5, 2))[:, 0], [2] * 5)
    assert set(seen) == {4}
