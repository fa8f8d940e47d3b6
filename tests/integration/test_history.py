"""Task history as a whole: what a run computes, that nothing is forgotten, and that a resumed run ends with the same bytes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tensorflow as tf

from gantrain import checkpoint
from gantrain.data.pairing import pairing_of
from gantrain.objectives.window_losses import norm_mse
from tests.helpers import changed, snapshot
from tests.history_helpers import history_experiment
from tests.unit.training.oracle import Plain

SEQUENCES = {"data.source.sequences": 4}
PLANS = {
    "samples": {},
    "samples_window_warm_up_dropout": {
        "history.gradient": "window",
        "history.start": "warm_up",
        "model": {"name": "mlp", "units": [6, 3], "activation": "tanh", "dropout": 0.3},
        "data.epoch_end": "continue",
    },
    "samples_reset_by_sequence_and_epoch": {**SEQUENCES, "history.reset": "epoch", "data.epoch_end": "continue"},
    "batches_shuffled_momentum": {
        "history.unit": "batch",
        "history.reset": "epoch",
        "data.order": "shuffled",
        "optimizers.model": {"name": "sgd", "momentum": 0.9},
    },
    "window_longer_than_the_batch_float16": {
        "history": {"length": 20, "gradient": "window"},
        "training.precision": "mixed_float16",
        "training.clip_norm": 0.5,
    },
}
BEFORE, AFTER = 4, 5  # of 6 batches per epoch (or 5.25): the first part ends in the middle of an epoch, the second one crosses it


def slow_but(first, plans):
    """The first few in the default tier."""
    return [pytest.param(plan, marks=() if index < first else pytest.mark.slow) for index, plan in enumerate(plans)]


@pytest.mark.parametrize("plan", slow_but(2, PLANS))
def test_an_interrupted_run_ends_with_the_bytes_of_one_that_was_not(tmp_path, plan):
    whole = history_experiment(PLANS[plan], started=True)
    assert whole.engine.run(BEFORE).fine
    path = checkpoint.save(tmp_path, BEFORE, whole.state, "", whole.data_facts)
    middle = snapshot(whole.state)
    assert whole.engine.run(AFTER).fine
    resumed = history_experiment(PLANS[plan])
    checkpoint.restore(path, resumed.state)
    assert snapshot(resumed.state) == middle
    resumed.start_data()
    assert resumed.engine.run(AFTER).fine
    assert not changed(snapshot(whole.state), snapshot(resumed.state))
    assert resumed.progress.means() == whole.progress.means()
    moved = changed(middle, snapshot(whole.state))
    assert {*whole.model.trainable, "history/outputs", "progress/step"} <= moved


@pytest.mark.parametrize("plan", slow_but(1, ["window_longer_than_the_batch_float16", "samples_window_warm_up_dropout"]))
def test_every_variable_created_is_in_the_state(plan):
    created = []

    def record(make, **arguments):
        created.append(make(**arguments))
        return created[-1]

    with tf.variable_creator_scope(record):
        experiment = history_experiment(PLANS[plan], started=True)
        experiment.engine.run(1)
    saved = {id(variable) for variable in experiment.state.values()}
    assert len(created) > 10
    assert not [variable.name for variable in created if id(variable) not in saved]
    assert len(saved) == len(experiment.state)


def expected_losses(experiment, steps):
    """The losses of a network that never learns, by the plain loop, batch by batch."""
    spec, pairing = experiment.spec, pairing_of(experiment.source)
    window, size, batch = spec.history, spec.window.size, spec.data.batch_size
    inputs, length = experiment.source.in_memory, experiment.source.length
    outputs = experiment.model.model(inputs).numpy().astype(np.float64)
    own = np.zeros(length, int) if pairing.sequences is None else pairing.sequences
    plain, losses = Plain(window.length, size, window.unit, window.gradient, window.start), []
    for number in range(steps):
        places = number * batch + np.arange(batch)
        if spec.data.epoch_end == "partial":
            epoch, within = divmod(number, -(-length // batch))
            places = epoch * length + np.arange(within * batch, min(length, (within + 1) * batch))
        index, epochs = places % length, places // length * (window.reset == "epoch")
        z, *_ = plain.batch(outputs[index], own[index] + 100 * epochs, np.zeros([len(index), window.length * size]))
        counted = np.array(plain.counted)
        every = norm_mse(tf.constant(z, tf.float32), tf.constant(pairing.targets[index])).numpy()
        losses.append(every[counted].mean() if counted.any() else None)
    return losses


FIRST = [
    ("partial", "sample", "warm_up", "epoch"),
    ("partial", "batch", "warm_up", "never"),
    ("continue", "sample", "zeros", "epoch"),
]
ALL = itertools.product(["partial", "continue"], ["sample", "batch"], ["zeros", "warm_up"], ["never", "epoch"])
COMBINATIONS = [*FIRST, *(combination for combination in ALL if combination not in FIRST)]
STILL = {"optimizers.model": {"name": "sgd", "learning_rate": 1e-30}}


@pytest.mark.parametrize("combination", slow_but(3, COMBINATIONS))
def test_the_losses_of_a_run_are_those_of_the_plain_loop_over_its_examples(combination):
    epoch_end, unit, start, reset = combination
    changes = {**STILL, **SEQUENCES, "history.unit": unit, "history.start": start, "history.reset": reset}
    experiment = history_experiment({**changes, "data.epoch_end": epoch_end, "data.batch_size": 5}, started=True)
    for expected in expected_losses(experiment, 19):  # more than two epochs of 42 examples
        experiment.progress.reset()
        assert experiment.engine.run(1).fine
        assert int(experiment.progress.count.numpy()) == (expected is not None)
        found = experiment.progress.means()["loss/model"]
        assert found == pytest.approx(expected or 0.0, rel=1e-5, abs=1e-6)


def test_warming_up_counts_steps_but_moves_no_weight_until_the_window_is_full():
    changes = {"history": {"length": 20, "start": "warm_up"}, "training.precision": "float32"}
    experiment = history_experiment(changes, started=True)
    before = snapshot(experiment.model.variables)
    slots = {key: value for key, value in experiment.state.items() if key.startswith("optimizer.")}
    slots_before = snapshot(slots)
    experiment.engine.run(2)  # 16 outputs
    assert not changed(before, snapshot(experiment.model.variables))
    assert not changed(slots_before, snapshot(slots))
    assert (int(experiment.progress.step.numpy()), int(experiment.progress.count.numpy())) == (2, 0)
    experiment.engine.run(1)
    assert changed(before, snapshot(experiment.model.variables)) == set(experiment.model.trainable)


def test_the_step_is_traced_once_for_whole_and_smaller_batches():
    experiment = history_experiment({"data.batch_size": 35}, started=True)  # 35, 7, 35, 7 ...
    traced = []
    call = experiment.engine.step.__call__
    experiment.engine._call = tf.function(lambda *arguments: (traced.append(1), call(*arguments))[1], autograph=False)
    assert experiment.engine.run(4).fine
    assert len(traced) == 1


@pytest.mark.parametrize("on_nonfinite", ["abort", "skip"])
def test_an_output_that_is_not_finite_never_becomes_history(on_nonfinite):
    experiment = history_experiment({"training.on_nonfinite": on_nonfinite}, started=True)
    experiment.engine.run(2)
    kept = snapshot({key: value for key, value in experiment.state.items() if key.startswith("history/")})
    kernel = experiment.model.trainable["model/out/kernel"]
    good = kernel.numpy()
    kernel.assign(np.full_like(good, np.inf))
    result = experiment.engine.run(1)
    assert result.fine == (on_nonfinite == "skip")
    assert experiment.engine.suspects[int(experiment.progress.nonfinite_blamed.numpy())] == "an output of the model"
    assert snapshot({key: value for key, value in experiment.state.items() if key.startswith("history/")}) == kept
    kernel.assign(good)
    assert experiment.engine.run(1).fine


def test_the_network_learns_a_teacher_whose_targets_look_back_four_outputs():
    changes = {
        "data.source": {"name": "window_teacher", "inputs": 8, "outputs": 8, "length": 4, "size": 500},
        "data.batch_size": 32,
        "model": {"name": "mlp", "units": [8]},
        "history": {"length": 4, "gradient": "window"},
        "optimizers.model": {"name": "adam", "learning_rate": 5e-3},
    }
    experiment = history_experiment(changes, started=True)
    experiment.engine.run(16)
    first = experiment.progress.means()["loss/model"]
    experiment.engine.run(800)
    experiment.progress.reset()
    experiment.engine.run(16)
    assert experiment.progress.means()["loss/model"] < first / 10


def test_the_history_holds_outputs_of_the_weights_that_made_them():
    experiment = history_experiment({"history.length": 10}, started=True)
    outputs = experiment.model.model(experiment.source.in_memory[:8]).numpy()
    experiment.engine.run(1)  # moves the weights, not the history
    np.testing.assert_allclose(experiment.state["history/outputs"].numpy()[:8], outputs[::-1], atol=1e-6)
    assert experiment.state["history/age"].numpy() == 8
