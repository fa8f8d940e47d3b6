"""Every registered prior: shape, dtype, repeatability, independence of keys, graph equals eager."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry

NAMES = registry.names("prior")
IN_THE_PLANE = ("swiss_roll",)  # two numbers, which depend on one another


def size_for(name: str, wanted: int) -> int:
    row = registry.find("prior", name)
    assert row is not None
    return wanted if row.settings().fits(wanted) is None else 2


def draw(name: str, count: int, size: int, key: tuple[int, int]) -> np.ndarray:
    return prior_of(name)(count, size, tf.constant(key, tf.int64)).numpy()


def prior_of(name: str):
    row = registry.find("prior", name)
    assert row is not None
    return registry.build(row.settings())


@pytest.mark.parametrize("name", NAMES)
def test_a_draw_has_the_asked_shape_and_is_finite_float32(name):
    size = size_for(name, 5)
    latents = draw(name, 7, size, (1, 2))
    assert latents.shape == (7, size)
    assert latents.dtype == np.float32
    assert np.isfinite(latents).all()


@pytest.mark.parametrize("name", NAMES)
def test_equal_keys_give_equal_latents_and_others_give_others(name):
    size = size_for(name, 4)
    first = draw(name, 6, size, (3, 2**40))
    assert np.array_equal(first, draw(name, 6, size, (3, 2**40)))
    for other in ((4, 2**40), (3, 2**40 + 1), (2**40, 3)):
        assert not np.isclose(first, draw(name, 6, size, other)).any(), other


@pytest.mark.parametrize("name", NAMES)
def test_a_count_and_a_key_known_only_at_run_time_give_the_same_latents(name):
    prior, size = prior_of(name), size_for(name, 4)
    compiled = tf.function(
        lambda count, key: prior(count, size, key), input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.int64)]
    )
    assert np.array_equal(compiled(6, [3, 9]).numpy(), draw(name, 6, size, (3, 9)))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in IN_THE_PLANE])
def test_numbers_are_independent_of_one_another(name):
    latents = draw(name, 20_000, 4, (5, 5))
    correlation = np.corrcoef(np.concatenate([latents[:-1], latents[1:]], axis=1).T) - np.eye(8)
    assert np.abs(correlation).max() < 5 / np.sqrt(20_000)
