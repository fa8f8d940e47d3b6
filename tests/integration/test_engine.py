"""How many steps one call runs, and whether XLA compiles them, never changes a number."""

# ruff: noqa: ARG002, ARG005  a stand-in keeps the signature

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import experiment
from gantrain.errors import UsageError
from tests.helpers import BATCH_NORM, DROPOUT, changed, snapshot, tiny_experiment


def state_after(changes, calls):
    built = tiny_experiment(changes, started=True)
    for steps in calls:
        assert built.engine.run(steps).fine
    return built


@pytest.fixture(scope="module")
def in_one_call():
    return snapshot(state_after({**BATCH_NORM, **DROPOUT}, [20]).state)


@pytest.mark.parametrize("calls", [[1] * 20, [20], [7, 1, 12]], ids=["1_each", "20_again", "7_1_12"])
def test_calls_of_any_length_and_a_second_run_give_equal_bytes(in_one_call, calls):
    assert not changed(in_one_call, snapshot(state_after({**BATCH_NORM, **DROPOUT}, calls).state))


def test_another_seed_gives_other_numbers(in_one_call):
    other = snapshot(state_after({**BATCH_NORM, **DROPOUT, "seed": 8}, [20]).state)
    assert "generator/out/kernel" in changed(in_one_call, other)


class FewLatents:
    """A fixed table: XLA on a CPU draws other philox numbers than TensorFlow's kernels where the key is no constant."""

    table = np.random.default_rng(0).standard_normal((6, 8, 4)).astype(np.float32)

    def latents(self, stream, step, count):
        return tf.gather(tf.constant(self.table), step)

    def labels(self, stream, step, count, histogram):
        return None


@pytest.mark.slow
def test_jit_gives_the_same_numbers_from_the_same_latents(monkeypatch):
    monkeypatch.setattr(experiment, "Draws", lambda *settings: FewLatents())
    changes = {**BATCH_NORM, "optimizers.generator": "sgd", "optimizers.discriminator": "sgd"}
    plain, compiled = (state_after({**changes, "training.jit": jit}, [6]).state for jit in (False, True))
    for key, variable in plain.items():
        np.testing.assert_allclose(compiled[key].numpy(), variable.numpy(), rtol=1e-4, atol=1e-6, err_msg=key)


class LatentsFromPython(FewLatents):
    def latents(self, stream, step, count):
        drawn = tf.numpy_function(lambda number: self.table[number], [step], tf.float32)
        return tf.ensure_shape(drawn, self.table.shape[1:])


@pytest.mark.slow
def test_an_operation_that_xla_does_not_know_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(experiment, "Draws", lambda *settings: LatentsFromPython())
    state_after({}, [1])
    with pytest.raises(UsageError, match=r"^training.jit: XLA has no CPU kernel for PyFunc, .*; write jit: false$"):
        state_after({"training.jit": True}, [1])


def test_the_first_step_that_is_not_finite_is_named_and_stops_the_call_and_nothing_more_is_applied():
    run = tiny_experiment({"training.ema": {"half_life_images": 8}}, started=True)
    assert run.engine.run(2).fine
    bias = run.state["discriminator/hidden1/dense/bias"]
    bias.assign(bias * np.nan)
    before = snapshot(run.state)
    assert not run.engine.run(5).fine
    moved = changed(before, snapshot(run.state))
    assert moved == {"progress/nonfinite_step", "progress/nonfinite_blamed"}
    assert run.progress.nonfinite_step.numpy() == 2
    assert run.engine.suspects[run.progress.nonfinite_blamed.numpy()] == "loss/discriminator"
