"""How many steps one call runs, and whether XLA compiles them, never changes a number."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import BATCH_NORM, DROPOUT, changed, snapshot, tiny_experiment


def state_after(changes, calls):
    experiment = tiny_experiment(changes, started=True)
    for steps in calls:
        assert experiment.engine.run(steps).fine
    return experiment


@pytest.fixture(scope="module")
def in_one_call():
    return snapshot(state_after({**BATCH_NORM, **DROPOUT}, [20]).state)


@pytest.mark.parametrize("calls", [[1] * 20, [20], [7, 1, 12]], ids=["1_each", "20_again", "7_1_12"])
def test_calls_of_any_length_and_a_second_run_give_equal_bytes(in_one_call, calls):
    assert not changed(in_one_call, snapshot(state_after({**BATCH_NORM, **DROPOUT}, calls).state))


def test_another_seed_gives_other_numbers(in_one_call):
    other = snapshot(state_after({**BATCH_NORM, **DROPOUT, "seed": 8}, [20]).state)
    assert "generator/out/kernel" in changed(in_one_call, other)


@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
def test_jit_gives_the_same_numbers_and_the_same_bytes_every_time(updates):
    changes = {**BATCH_NORM, "training.updates": updates, "optimizers.generator": "sgd", "optimizers.discriminator": "sgd"}
    plain = state_after(changes, [6])
    compiled = [state_after({**changes, "training.jit": True}, calls) for calls in ([6], [2, 4])]
    assert snapshot(compiled[0].state) == snapshot(compiled[1].state)
    for key, variable in plain.state.items():
        np.testing.assert_allclose(compiled[0].state[key].numpy(), variable.numpy(), rtol=1e-4, atol=1e-6, err_msg=key)


def test_the_first_step_that_is_not_finite_is_named_and_stops_the_call_and_nothing_more_is_applied():
    experiment = tiny_experiment({"training.ema": {"half_life_images": 8}}, started=True)
    assert experiment.engine.run(2).fine
    bias = experiment.state["discriminator/hidden1/dense/bias"]
    bias.assign(bias * np.nan)
    before = snapshot(experiment.state)
    assert not experiment.engine.run(5).fine
    moved = changed(before, snapshot(experiment.state))
    assert moved == {"progress/nonfinite_step", "progress/nonfinite_blamed"}
    assert experiment.progress.nonfinite_step.numpy() == 2
    assert experiment.engine.suspects[experiment.progress.nonfinite_blamed.numpy()] == "loss/discriminator"
