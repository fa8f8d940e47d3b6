"""Signs of collapse: planted ones are told once after some lines in a row, healthy runs are left alone."""

from __future__ import annotations

import pytest

from gantrain.training.health import INTERVALS, UNIFORM_ADVICE, VANISHED_ADVICE, WON_ADVICE, Health
from tests.helpers import snapshot, tiny_experiment

FINE = {"grad_norm/generator": 1.0, "health/real_right": 0.8, "health/fake_right": 1.0, "health/diversity": 0.9}
SIGNS = {
    WON_ADVICE: {"health/real_right": 0.995, "health/fake_right": 0.995},
    UNIFORM_ADVICE: {"health/diversity": 0.29},
    VANISHED_ADVICE: {"grad_norm/generator": 0.9e-3},
}


def told(lines, has_boundary=True):
    health = Health(has_boundary)
    return [health.judge({**FINE, **line}) for line in lines]


@pytest.mark.parametrize("advice", SIGNS)
def test_a_sign_in_enough_lines_in_a_row_is_told_once(advice):
    lines = told([{}, *[SIGNS[advice]] * (INTERVALS + 3)])
    assert lines == [[]] * INTERVALS + [[advice]] + [[]] * 3


@pytest.mark.parametrize("advice", SIGNS)
def test_a_line_without_the_sign_begins_anew(advice):
    assert not any(told([{}, *([SIGNS[advice]] * (INTERVALS - 1) + [{}]) * 3]))


def test_a_discriminator_may_always_win_where_only_differences_of_logits_count():
    assert not any(told([SIGNS[WON_ADVICE]] * (2 * INTERVALS), has_boundary=False))


def test_numbers_at_the_limits_are_no_signs():
    limits = {"health/real_right": 0.99, "health/fake_right": 1.0, "health/diversity": 0.3, "grad_norm/generator": 1e-3}
    assert not any(told([{}, *[limits] * (2 * INTERVALS)]))


def test_the_counters_are_state():
    health = Health(True)
    before = snapshot(health.variables)
    health.judge({**FINE, **SIGNS[UNIFORM_ADVICE]})
    assert snapshot(health.variables) != before


PLANTED = {
    "a generator that ignores its latents": {
        "generator.norm": "none",
        "optimizers.generator": {"name": "sgd", "learning_rate": 1e-6},
    },
    "a discriminator a hundred times too fast": {
        "optimizers.generator": {"name": "adam", "learning_rate": 1e-4},
        "optimizers.discriminator": {"name": "adam", "learning_rate": 1e-2},
    },
    "healthy": {
        "optimizers.generator": {"name": "adam", "learning_rate": 1e-3},
        "optimizers.discriminator": {"name": "adam", "learning_rate": 1e-3},
        "generator.norm": "batch_norm",
    },
}


@pytest.mark.parametrize("plan", PLANTED)
def test_planted_collapse_is_flagged_and_a_healthy_run_is_not(plan):
    changes = {"data.batch_size": 64, "generator.units": [32], "discriminator.units": [64, 64], **PLANTED[plan]}
    experiment = tiny_experiment(changes, started=True)
    if "ignores" in plan:
        kernel = experiment.state["generator/hidden1/dense/kernel"]
        kernel.assign(0.0 * kernel)
    found = set()
    for _ in range(INTERVALS + 3):
        assert experiment.engine.run(40).fine
        found |= set(experiment.health.judge(experiment.progress.means()))
        experiment.progress.reset()
    expected = {"a generator that ignores its latents": UNIFORM_ADVICE, "healthy": None}.get(plan, WON_ADVICE)
    assert found == set() if expected is None else expected in found
