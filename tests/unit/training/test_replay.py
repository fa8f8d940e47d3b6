"""The history of fakes against a history kept image by image in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain.spec.model import Replay
from gantrain.training.fakes import Fakes
from gantrain.training.replay import ReplayBuffer


def pushed(size, probability, batches, batch=8, with_labels=True, jit=False):
    """(what went in, what came out, the buffer); image i is the number i + 1, its label i."""
    buffer = ReplayBuffer(Replay(size=size, probability=probability), (2, 1), with_labels)

    @tf.function(jit_compile=jit)
    def exchange(images, labels, key):
        shown = buffer.exchange(Fakes(images, labels if with_labels else None), key)
        return shown.images, shown.labels if with_labels else labels

    inside, outside = [], []
    for number in range(batches):
        values = np.arange(number * batch, (number + 1) * batch)
        images = tf.constant(np.broadcast_to((values + 1.0)[:, None, None], (batch, 2, 1)), tf.float32)
        shown, labels = exchange(images, tf.constant(values, tf.int64), tf.constant([7, number], tf.int64))
        assert (shown.numpy() == shown.numpy()[:, :1]).all()
        if with_labels:
            np.testing.assert_array_equal(labels.numpy() + 1, shown.numpy()[:, 0, 0])
        inside += list(values + 1)
        outside += list(shown.numpy()[:, 0, 0].astype(int))
    return np.array(inside), np.array(outside), buffer


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("size", "batch"), [(20, 8), (5, 8), (1, 8), (64, 8)])
def test_the_first_images_pass_and_every_image_is_in_the_history_or_left_once(size, batch, jit):
    inside, outside, buffer = pushed(size, 1.0, 12, batch, jit=jit)
    assert list(outside[:size]) == list(inside[:size])
    kept = list(buffer.variables["examples"].numpy()[: min(size, len(inside)), 0, 0].astype(int))
    assert int(buffer.variables["count"]) == min(size, len(inside))
    assert sorted(kept + list(outside[size:])) == sorted(inside)  # what passed while filling was shown and is kept as well
    assert (buffer.variables["examples"].numpy()[size] == 0).all()


def test_a_probability_of_one_never_shows_the_newest_once_full():
    inside, outside, _ = pushed(20, 1.0, 40)
    assert (outside[20:] != inside[20:]).all()
    assert (outside[20:] < inside[20:]).all()


def test_a_probability_of_zero_shows_what_goes_in():
    inside, outside, _ = pushed(20, 0.0, 40)
    np.testing.assert_array_equal(inside, outside)


def test_half_of_the_images_are_exchanged_at_a_probability_of_one_half():
    inside, outside, buffer = pushed(20, 0.5, 200)
    assert (inside[20:] != outside[20:]).mean() == pytest.approx(0.5, abs=0.05)
    kept = set(buffer.variables["examples"].numpy()[:20, 0, 0].astype(int))
    old = [value for value, new in zip(outside[20:], inside[20:], strict=True) if value != new]
    assert not kept & set(old)  # an exchanged image has left
    assert len(set(old)) > 0.9 * len(old)  # those of the first twenty were shown twice, others once


def test_an_image_can_get_back_one_of_its_own_batch_as_image_by_image():
    inside, outside, _ = pushed(1, 1.0, 3)
    np.testing.assert_array_equal(outside[1:], inside[:-1])  # one slot: each takes out the one before


def test_fakes_that_are_not_finite_pass_and_are_not_kept():
    buffer = ReplayBuffer(Replay(size=4), (2,), False)
    bad = tf.constant([[1.0, np.nan], [2.0, 2.0]])
    shown = buffer.exchange(Fakes(bad, None), tf.constant([1, 1], tf.int64))
    np.testing.assert_array_equal(shown.images, bad)
    assert int(buffer.variables["count"]) == 0
    assert (buffer.variables["examples"].numpy() == 0).all()
