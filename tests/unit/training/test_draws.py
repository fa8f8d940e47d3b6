"""Latents and fake labels: equal keys give equal numbers, different ones do not; labels follow the class histogram."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from gantrain.models.catalog import Normal
from gantrain.models.priors import build_normal
from gantrain.training.draws import Draws


def made(seed=0, attempt=0):
    return Draws(build_normal(Normal()), 3, seed, attempt)


def latents(draws, stream="generator", step=5, count=4):
    return draws.latents(stream, tf.constant(step, tf.int64), tf.constant(count)).numpy()


def test_latents_depend_on_seed_attempt_stream_and_step_and_on_nothing_else():
    first = latents(made())
    assert first.shape == (4, 3)
    np.testing.assert_array_equal(latents(made()), first)
    others = [latents(made(seed=1)), latents(made(attempt=1)), latents(made(), stream="discriminator"), latents(made(), step=6)]
    for other in others:
        assert not (other == first).any()


def test_fake_labels_follow_the_histogram_and_never_name_an_empty_class():
    histogram = [0.0, 0.5, 0.0, 0.3, 0.2, 0.0]
    labels = made().labels("generator", tf.constant(0, tf.int64), tf.constant(20_000), histogram).numpy()
    assert labels.dtype == np.int64
    shares = np.bincount(labels, minlength=6) / 20_000
    np.testing.assert_allclose(shares, histogram, atol=0.015)
    assert shares[[0, 2, 5]].sum() == 0


def test_there_are_no_labels_without_a_histogram():
    assert made().labels("generator", tf.constant(0, tf.int64), tf.constant(4), None) is None
