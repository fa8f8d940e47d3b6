"""Signs of collapse: planted ones are told once after some lines in a row, healthy runs are left alone."""

from __future__ import annotations

import pytest

from gantrain.training.health import GRACE_STEPS, INTERVALS, UNIFORM_ADVICE, VANISHED_ADVICE, WON_ADVICE, Health
from tests.helpers import snapshot, tiny_experiment

FINE = {"grad_norm/generator": 1.0, "health/real_right": 0.8, "health/fake_right": 1.0, "health/diversity": 0.9}
SIGNS = {
    WON_ADVICE: {"health/real_right": 0.995, "health/fake_right": 0.995},
    UNIFORM_ADVICE: {"health/diversity": 0.29},
    VANISHED_ADVICE: {"grad_norm/generator": 0.9e-3},
}


def told(lines, has_boundary=True, first=GRACE_STEPS + 50):
    health = Health(has_boundary)
    return [health.judge(first + 50 * index, {**FINE, **line}) for index, line in enumerate(lines)]


@pytest.mark.parametrize("advice", SIGNS)
def test_a_sign_in_enough_lines_in_a_row_is_told_once(advice):
    lines = told([{}, *[SIGNS[advice]] * (INTERVALS + 3)])
    assert lines == [[]] * INTERVALS + [[advice]] + [[]] * 3


@pytest.mark.parametrize("advice", SIGNS)
def test_a_line_without_the_sign_begins_anew(advice):
    assert not any(told([{}, *([SIGNS[advice]] * (INTERVALS - 1) + [{}]) * 3]))


@pytest.mark.parametrize("advice", SIGNS)
def test_the_first_steps_show_no_sign_and_the_lines_after_them_are_counted_from_one(advice):
    early = GRACE_STEPS // 50  # lines within the grace period
    lines = told([{}, *[SIGNS[advice]] * (early + INTERVALS)], first=50)
    assert lines == [[]] * (early + INTERVALS - 1) + [[advice]] + [[]]


def test_the_gradient_is_compared_with_the_first_line_of_all():
    small = {"grad_norm/generator": 1e-3 * FINE["grad_norm/generator"] * 0.9}
    lines = told([{}, *[small] * (GRACE_STEPS // 50 + INTERVALS)], first=50)
    assert [VANISHED_ADVICE] in lines


def test_a_discriminator_may_always_win_where_only_differences_of_logits_count():
    assert not any(told([SIGNS[WON_ADVICE]] * (2 * INTERVALS), has_boundary=False))


def test_numbers_at_the_limits_are_no_signs():
    limits = {"health/real_right": 0.99, "health/fake_right": 1.0, "health/diversity": 0.3, "grad_norm/generator": 1e-3}
    assert not any(told([{}, *[limits] * (2 * INTERVALS)]))


def test_the_counters_are_state():
    health = Health(True)
    before = snapshot(health.variables)
    health.judge(GRACE_STEPS + 1, {**FINE, **SIGNS[UNIFORM_ADVICE]})
    assert snapshot(health.variables) != before


PLANTED = {
    "a generator that ignores its latents": {
        "generator.norm": "none",
        "optimizers.generator": {"name": "sgd", "learning_rate": 1e-6},
    },
    "a discriminator a hundred times too fast": {
        "optimizers.generator": {"name": "adam", "learning_rate": 1e-5},
        "optimizers.discriminator": {"name": "adam", "learning_rate": 1e-3},
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
    for step in range(100, GRACE_STEPS + 100 * (INTERVALS + 3), 100):
        assert experiment.engine.run(100).fine
        found |= set(experiment.health.judge(step, experiment.progress.means()))
        experiment.progress.reset()
    expected = {"a generator that ignores its latents": UNIFORM_ADVICE, "healthy": None}.get(plan, WON_ADVICE)
    assert found == set() if expected is None else expected in found
