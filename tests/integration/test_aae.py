"""Task `aae`: which update moves what, batches of any size in one trace, byte-exact resume, nothing forgotten."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
import tensorflow as tf

from gantrain import checkpoint
from gantrain.aae_interfaces import EncoderOutput
from gantrain.training.aae import FACTS, batch_of
from gantrain.training.fakes import Portion
from tests.aae_helpers import BY_LABEL, aae_experiment
from tests.helpers import changed, snapshot

BATCH_NORM = {"encoder.norm": "batch_norm", "decoder.norm": "batch_norm", "discriminator.norm": "batch_norm"}
GAUSSIAN = {"encoder.law": "gaussian"}
PLANS = {
    "gaussian_batch_norm_dropout_partial": {
        **BATCH_NORM, **GAUSSIAN, "encoder.dropout": 0.2, "data.batch_size": 600, "data.epoch_end": "partial",
    },
    "by_label_flips_schedule": {
        **BY_LABEL, "data.augment": {"horizontal_flip": True}, "data.batch_size": 700, "training.clip_norm": 0.1,
        "objective.weight": {"name": "linear", "start": 2.0, "end": 0.5, "images": 4000},
    },
    "convolutional_penalty_bfloat16": {
        "encoder": {"name": "dcgan", "base_width": 4}, "decoder": {"name": "dcgan", "base_width": 4},
        "objective.penalties": ["gradient_penalty"], "objective.loss": "lsgan", "training.precision": "mixed_bfloat16",
    },
}  # fmt: skip
SLOW = ("by_label_flips_schedule", "convolutional_penalty_bfloat16")


@pytest.mark.parametrize("plan", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in PLANS])
def test_an_interrupted_run_ends_with_the_bytes_of_one_that_was_not(tmp_path, plan):
    whole = aae_experiment(PLANS[plan], started=True)
    assert whole.engine.run(4).fine
    path = checkpoint.save(tmp_path, 4, whole.state, "", whole.data_facts)
    middle = snapshot(whole.state)
    assert whole.engine.run(5).fine
    resumed = aae_experiment(PLANS[plan])
    checkpoint.restore(path, resumed.state)
    assert snapshot(resumed.state) == middle
    resumed.start_data()
    assert resumed.engine.run(5).fine
    assert not changed(snapshot(whole.state), snapshot(resumed.state))
    assert resumed.progress.means() == whole.progress.means()
    moved = changed(middle, snapshot(whole.state))
    assert {key for net in whole.nets.all for key in net.trainable} <= moved


def test_every_variable_that_an_experiment_creates_is_in_its_state():
    created = []

    def keep(make, **arguments):
        created.append(make(**arguments))
        return created[-1]

    with tf.variable_creator_scope(keep):
        experiment = aae_experiment({**BATCH_NORM, **GAUSSIAN, "training.precision": "mixed_float16"}, started=True)
        assert experiment.engine.run(1).fine
    known = {id(variable) for variable in experiment.state.values()}
    assert [variable.name for variable in created if id(variable) not in known] == []


class Recorder:
    """The three updates of a step, called one by one with the variables each may move."""

    def __init__(self, experiment, monkeypatch) -> None:
        self.moved: list[set[str]] = []
        step = experiment.engine.step
        updates = step._updates
        for update in (updates.reconstruction, updates.discriminator, updates.regularisation):
            self._watch(update, experiment.state, monkeypatch)

    def _watch(self, update, state, monkeypatch) -> None:
        run = update.run

        def watched(*arguments, **named):
            before = snapshot(state)
            outcome = run(*arguments, **named)
            self.moved.append({key for key in changed(before, snapshot(state)) if not key.startswith("optimizer.")})
            return outcome

        monkeypatch.setattr(update, "run", watched)


def test_the_three_updates_come_in_order_and_each_moves_its_own_variables_only(monkeypatch):
    experiment = aae_experiment(GAUSSIAN)
    recorder = Recorder(experiment, monkeypatch)
    experiment.engine.step([tf.random.normal([5, 8, 8, 1])], tf.constant(0, tf.int64))
    nets = experiment.nets
    encoder, decoder, discriminator = (set(net.trainable) for net in nets.all)
    without_log_std = {key for key in encoder if "log_std" not in key}
    assert recorder.moved[0] == encoder | decoder
    assert recorder.moved[1] == discriminator
    assert without_log_std <= recorder.moved[2] <= encoder
    assert len(recorder.moved) == 3


def test_a_batch_comes_in_any_of_the_forms_of_datasets():
    x, y = tf.zeros([2, 8, 8, 1]), tf.zeros([2], tf.int64)
    assert batch_of(x) == batch_of((x,)) == batch_of([x]) == {"real": x}
    assert batch_of((x, y)) == batch_of([x, y]) == batch_of({"real": x, "labels": y}) == {"real": x, "labels": y}


def test_a_smaller_last_batch_trains_in_the_trace_of_the_others():
    step, traces = aae_experiment().engine.step, []

    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 1]), tf.TensorSpec([], tf.int64)], autograph=False)
    def run(x, number):
        traces.append(1)
        return step([(x,)], number)

    for number, size in enumerate((16, 16, 7)):
        assert bool(run(tf.random.normal([size, 8, 8, 1]), tf.constant(number, tf.int64)).fine)
    assert len(traces) == 1


def test_the_prior_draw_has_the_size_of_the_batch_at_hand(monkeypatch):
    experiment = aae_experiment({"data.batch_size": 256, "data.epoch_end": "partial"})  # 1,797 = 7 * 256 + 5
    step, sizes, seen = experiment.engine.step, [], []
    judge = step._judge.judge

    def watched(portion, fakes, number):
        tf.py_function(
            lambda real, fake: sizes.append((int(real), int(fake))), [tf.shape(portion.real)[0], tf.shape(fakes.images)[0]], []
        )
        seen.append(portion)
        return judge(portion, fakes, number)

    monkeypatch.setattr(step._judge, "judge", watched)
    experiment.start_data()
    assert experiment.engine.run(8).fine
    assert sizes == [(256, 256)] * 7 + [(5, 5)]
    assert len(seen) == 1  # one trace


def test_without_a_weight_the_encoder_is_not_regularised_and_has_no_optimizer_for_it():
    experiment = aae_experiment({"objective.regularisation_weight": 0}, started=True)
    assert experiment.engine.run(3).fine
    assert not [key for key in experiment.state if key.startswith("optimizer.regularisation")]
    means = experiment.progress.means()
    assert means["loss/regularisation"] == 0
    assert means["grad_norm/regularisation"] == 0
    assert means["grad_norm/discriminator"] > 0


def test_a_step_that_is_not_finite_names_the_update_and_is_not_applied():
    experiment = aae_experiment(started=True)
    name, variable = next(iter(experiment.nets.discriminator.trainable.items()))
    variable.assign(tf.fill(variable.shape, np.nan))
    before = snapshot(experiment.nets.discriminator.variables)
    assert not experiment.engine.run(2).fine
    blamed = experiment.engine.suspects[int(experiment.progress.nonfinite_blamed.numpy())]
    assert blamed == "loss/discriminator", name
    assert not changed(before, snapshot(experiment.nets.discriminator.variables))


def test_a_gaussian_code_is_the_mean_plus_the_deviation_times_noise_of_the_step(monkeypatch):
    experiment = aae_experiment(GAUSSIAN)
    step = experiment.engine.step
    fixed = EncoderOutput(tf.fill([3, 4], 2.0), tf.fill([3, 4], float(np.log(0.5))))
    monkeypatch.setattr(step, "_encoder", SimpleNamespace(model=Mock(return_value=fixed)))
    portion, number = Portion({"real": tf.zeros([3, 8, 8, 1])}), tf.constant(5, tf.int64)
    code = step._codes(portion, number, "reconstruction")
    noise = experiment.draws.noise("reconstruction", number, tf.constant(3))
    np.testing.assert_allclose(code, 2.0 + 0.5 * noise, rtol=1e-6)
    assert not np.allclose(code, step._codes(portion, number, "regularisation"))
    assert not np.allclose(code, step._codes(portion, number + 1, "reconstruction"))


def test_the_weight_of_the_reconstruction_follows_its_schedule_and_scales_its_gradient_only():
    still = {"optimizers.reconstruction": {"name": "sgd", "learning_rate": 1e-30}, "objective.regularisation_weight": 0}
    weight = {"name": "linear", "start": 2.0, "end": 0.5, "images": 80}  # 10 steps of 8
    experiment = aae_experiment({**still, "objective.weight": weight})
    loss, norm = FACTS.index("loss/reconstruction"), FACTS.index("grad_norm/reconstruction")
    batch, found = tf.random.stateless_uniform([8, 8, 8, 1], [1, 2], -1.0), {}
    for step in (0, 5, 10, 20):
        experiment.progress.step.assign(step)
        found[step] = experiment.engine.step([batch], tf.constant(step, tf.int64)).facts.numpy()
    assert len({float(facts[loss]) for facts in found.values()}) == 1
    ratios = [float(facts[norm] / found[20][norm]) for facts in found.values()]
    np.testing.assert_allclose(ratios, [4.0, 2.5, 1.0, 1.0], rtol=1e-5)
