"""Nothing that a resume needs is forgotten: every variable created while an experiment is built is in its state."""

# ruff: noqa: ARG002, ARG005  the calls of a plugin have fixed signatures

from __future__ import annotations

import keras
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.interfaces import DiscriminatorOutput, DiscriminatorSettings, GeneratorSettings
from tests.helpers import BATCH_NORM, DROPOUT, tiny_experiment


@pytest.fixture
def strangers():
    """Nets as a plugin may bring them: Keras layers without names, with states of their own."""

    class Generator(keras.Model):
        def __init__(self, context):
            super().__init__(name="mine")
            self.layers_of_mine = [
                keras.layers.Dense(8),
                keras.layers.BatchNormalization(),
                keras.layers.Dropout(0.2),
                keras.layers.Dense(64),
            ]
            self(tf.zeros([1, context.latent_size]))

        def call(self, x, labels=None, training=False):
            for layer in self.layers_of_mine[:-1]:
                x = layer(x, training=training) if not isinstance(layer, keras.layers.Dense) else layer(x)
            return tf.reshape(tf.tanh(self.layers_of_mine[-1](x)), [-1, 8, 8, 1])

    class Discriminator(keras.Model):
        def __init__(self, context):
            super().__init__()
            self.body = keras.Sequential(
                [keras.layers.Flatten(), keras.layers.Dense(8), keras.layers.Dropout(0.3), keras.layers.Dense(1)]
            )
            self(tf.zeros([1, *context.shape]))

        def call(self, x, labels=None, training=False):
            return DiscriminatorOutput(self.body(x, training=training)[:, 0])

    @registry.register("generator", "stranger", build=lambda settings, context: Generator(context))
    class StrangeGenerator(GeneratorSettings):
        """A plugin's."""

        def last_activation(self, data_range):
            return "tanh"

    @registry.register("discriminator", "stranger", build=lambda settings, context: Discriminator(context))
    class StrangeDiscriminator(DiscriminatorSettings):
        """A plugin's."""

    yield {"generator": "stranger", "discriminator": "stranger"}
    registry.forget(__name__)


def created_and_state(changes):
    created = []

    def record(make, **arguments):
        created.append(make(**arguments))
        return created[-1]

    with tf.variable_creator_scope(record):
        experiment = tiny_experiment(changes, started=True)
        experiment.engine.run(1)
    return created, experiment.state


PLANS = {
    "mlp": {
        **BATCH_NORM,
        **DROPOUT,
        "optimizers.generator": "rmsprop",
        "optimizers.discriminator": {"name": "sgd", "momentum": 0.5},
    },
    "conditional": {
        "generator.conditioning": "embedding",
        "discriminator.conditioning": "projection",
        "training.ema": None,
        "training.precision": "mixed_bfloat16",
    },
    "spectral_lecam_replay_float16": {
        "generator.conditioning": "embedding",
        "discriminator.conditioning": "auxiliary",
        "discriminator.norm": "spectral_norm",
        "objective": {"penalties": ["lecam"]},
        "replay": {"size": 12},
        "training.precision": "mixed_float16",
    },
    "dcgan": {
        "generator": {"name": "dcgan", "base_width": 4},
        "discriminator": {"name": "dcgan", "base_width": 4, "dropout": 0.1},
    },
}


def check_that_nothing_is_forgotten(changes):
    created, state = created_and_state(changes)
    saved = {id(variable) for variable in state.values()}
    forgotten = [variable.name for variable in created if id(variable) not in saved]
    assert len(created) > 20
    assert not forgotten
    assert len(saved) == len(state)  # none is saved under two keys


@pytest.mark.parametrize("plan", PLANS)
def test_every_variable_created_is_in_the_state(plan):
    check_that_nothing_is_forgotten(PLANS[plan])


def test_every_variable_of_a_plugins_nets_is_in_the_state(strangers):
    check_that_nothing_is_forgotten(strangers)


def test_building_a_plugins_nets_twice_gives_equal_keys_and_equal_values(strangers):
    first, second = tiny_experiment(strangers), tiny_experiment(strangers)
    assert list(first.state) == list(second.state)
    for key, variable in first.state.items():
        assert variable.numpy().tobytes() == second.state[key].numpy().tobytes(), key


def test_the_average_starts_as_a_copy_of_the_generator_and_is_not_the_generator():
    experiment = tiny_experiment(BATCH_NORM)
    for key, variable in experiment.generator.variables.items():
        twin = experiment.average.variables[key.replace("generator/", "ema/", 1)]
        assert twin is not variable
        assert twin.numpy().tobytes() == variable.numpy().tobytes()
