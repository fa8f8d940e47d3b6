"""A net as the step sees it."""

from __future__ import annotations

import pytest
import tensorflow as tf

from gantrain.errors import UsageError
from gantrain.training.nets import own_parameters
from tests.helpers import BATCH_NORM, changed, snapshot, tiny_experiment


def test_a_forward_that_keeps_statistics_gives_the_same_output_and_leaves_every_variable():
    net = tiny_experiment(BATCH_NORM).generator
    latents = tf.random.stateless_normal([8, 4], [1, 2])
    before = snapshot(net.variables)
    kept = net.keeping_statistics(lambda: net.model(latents, None, training=True))
    assert snapshot(net.variables) == before
    moving = net.model(latents, None, training=True)
    assert (kept.numpy() == moving.numpy()).all()
    assert changed(before, snapshot(net.variables)) == {
        "generator/hidden1/norm/moving_mean",
        "generator/hidden1/norm/moving_variance",
    }


def test_a_parameter_in_two_nets_is_refused_by_name():
    experiment = tiny_experiment()
    own_parameters([experiment.generator, experiment.discriminator])
    experiment.discriminator.trainable["discriminator/stolen"] = experiment.generator.trainable["generator/out/bias"]
    with pytest.raises(UsageError, match="discriminator/stolen and generator/out/bias"):
        own_parameters([experiment.generator, experiment.discriminator])
