"""What a plugin's model or loss of task history may not give is said when it is built, with its name; not after hours."""

# ruff: noqa: ARG005  the calls of a plugin have fixed signatures

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.errors import UsageError
from gantrain.history_interfaces import ModelSettings, WindowLossSettings
from tests.history_helpers import history_experiment

LOSSES = {
    "good": lambda z, target: tf.reduce_mean(tf.square(z), axis=1) + 0.0 * target[:, 0],
    "scalar": lambda z, target: tf.reduce_mean(tf.square(z)),
    "half": lambda z, target: tf.cast(z[:, 0], tf.float16),
    "deaf": lambda z, target: target[:, 0],
    "infinite_at_zero": lambda z, target: tf.norm(z, axis=1),
    "crash": lambda z, target: 1 / 0,
}


@pytest.fixture
def plugin():
    """`plugin(kind, build)` registers a component `mine` for this test."""

    def add(kind, build):
        base = {"window_loss": WindowLossSettings, "model": ModelSettings}[kind]
        members = {"__doc__": "Mine.", "__module__": __name__, "output_size": lambda self: 3}
        registry.register(kind, "mine", build=build)(type("Mine", (base,), members))

    yield add
    registry.forget(__name__)


def built_with_loss(plugin, name):
    plugin("window_loss", lambda settings, context: LOSSES[name])
    return history_experiment({"objective": {"loss": "mine"}}, started=True)


def test_a_loss_of_a_plugin_trains(plugin):
    experiment = built_with_loss(plugin, "good")
    assert experiment.engine.run(3).fine
    assert experiment.progress.means()["loss/model"] > 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("scalar", r"gives \[\] float32 for 2 examples; it must give \[2\] float32 \(\[B\], one loss per example\)"),
        ("half", r"gives \[2\] float16"),
        ("deaf", "gives no gradient to Z"),
        ("infinite_at_zero", "NaN or infinite at Z = 0"),
        ("crash", "ZeroDivisionError"),
    ],
)
def test_a_loss_that_cannot_train_is_refused_by_name(plugin, name, message):
    with pytest.raises(UsageError, match=f"window_loss mine .*{message}"):
        built_with_loss(plugin, name)


def dense(width):
    model = keras.Sequential([keras.Input([5]), keras.layers.Dense(width)])
    model(tf.zeros([1, 5]))
    return model


def test_a_model_whose_outputs_have_another_size_is_refused_and_one_of_the_declared_size_trains(plugin):
    plugin("model", lambda settings, context: dense(settings.wide))
    registry.find("model", "mine").settings.wide = 3
    experiment = history_experiment({"model": "mine"}, started=True)
    assert experiment.engine.run(2).fine
    registry.find("model", "mine").settings.wide = 4
    with pytest.raises(UsageError, match=r"the model gives \[2, 4\] float32.*must give \[2, 3\]"):
        history_experiment({"model": "mine"})


def test_a_model_without_parameters_is_refused(plugin):
    plugin("model", lambda settings, context: keras.Sequential([keras.Input([5]), keras.layers.Lambda(lambda x: x[:, :3])]))
    with pytest.raises(UsageError, match="no trainable variable"):
        history_experiment({"model": "mine"})


def test_a_source_without_targets_is_refused():
    with pytest.raises(UsageError, match="needs a source with targets"):
        history_experiment({"data.source": "digits", "data.range": [0, 1]})


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["sample", "batch"])
def test_compiled_by_xla_it_computes_the_same(unit):
    changes = {"history": {"length": 3, "unit": unit}, "data.epoch_end": "continue"}
    plain, compiled = (history_experiment({**changes, "training.jit": jit}, started=True) for jit in (False, True))
    for experiment in (plain, compiled):
        assert experiment.engine.run(8).fine
    for key, variable in plain.state.items():
        np.testing.assert_allclose(variable.numpy(), compiled.state[key].numpy(), rtol=1e-4, atol=1e-5, err_msg=key)
