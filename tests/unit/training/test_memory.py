"""What cannot fit is refused by name before it is asked for."""

from __future__ import annotations

import pytest
import tensorflow as tf

from gantrain import machine
from gantrain.errors import UsageError
from gantrain.training import memory
from tests.helpers import tiny_experiment

GB = 10**9


@pytest.fixture
def free(monkeypatch):
    """A machine with that many bytes left, on which nothing is small."""

    def set_free(size: int | None) -> None:
        monkeypatch.setattr(machine, "free_bytes", lambda: size)
        monkeypatch.setattr(memory, "SMALL", 0)

    return set_free


@pytest.mark.parametrize(
    ("changes", "bytes_free", "words"),
    [
        ({"generator.units": [500]}, 100_000, r"a weight \[500, 64\] of the generator needs"),
        ({"discriminator.units": [500]}, 100_000, r"a weight \[64, 500\] of the discriminator needs"),
        ({"replay": {"size": 5000}}, 300_000, "a replay store of 5000 examples needs"),
        ({"data.batch_size": 512}, 200_000, r"a batch of 512 examples \[8, 8, 1\] with as many fakes needs"),
        ({"generator.units": [100], "training.ema": None}, 55_000, "the state of an optimizer needs"),
    ],
)
def test_what_does_not_fit_is_named_with_its_size(free, changes, bytes_free, words):
    free(bytes_free)
    with pytest.raises(UsageError, match=f"out of memory: {words} .* GB are free"):
        tiny_experiment(changes)


@pytest.mark.parametrize("bytes_free", [GB, None])
def test_what_fits_and_what_cannot_be_known_is_built(free, bytes_free):
    free(bytes_free)
    assert tiny_experiment().generator.trainable


def test_add_weight_is_keras_own_again_afterwards(free):
    before = tf.keras.layers.Layer.add_weight
    free(0)
    with pytest.raises(memory.NotEnoughMemory):
        tiny_experiment()
    assert tf.keras.layers.Layer.add_weight is before
