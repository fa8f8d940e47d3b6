"""Exact event steps, and calls of about half a second."""

from __future__ import annotations

import pytest

from gantrain.training.schedule import CallLength, Intervals


def test_events_fall_on_multiples_of_their_interval_and_on_the_last_step():
    plan = Intervals(log=4, sample=6, checkpoint=9, total=20)
    assert [step for step in range(1, 21) if plan.due(step, plan.log)] == [4, 8, 12, 16, 20]
    assert [step for step in range(1, 21) if plan.due(step, plan.checkpoint)] == [9, 18, 20]


def test_calls_end_exactly_on_the_next_event():
    plan = Intervals(log=4, sample=6, checkpoint=9, total=20)
    steps, step = [], 0
    while step < plan.total:
        step = plan.next_event(step)
        steps.append(step)
    assert steps == [4, 6, 8, 9, 12, 16, 18, 20]
    assert plan.next_event(5) == 6


@pytest.mark.parametrize(("setting", "until", "steps"), [(20, 100, 20), (20, 7, 7), (1, 100, 1)])
def test_a_fixed_length_is_only_cut_by_the_next_event(setting, until, steps):
    length = CallLength(setting)
    length.measured(1, 9.0)
    length.measured(1, 9.0)
    assert length.steps(until) == steps


def test_the_automatic_length_approaches_half_a_second_and_ignores_the_compiling_call():
    length = CallLength("auto")
    assert length.steps(1000) == 1
    length.measured(1, 30.0)
    assert length.steps(1000) == 1
    for _ in range(10):
        steps = length.steps(1000)
        length.measured(steps, steps * 0.01)
    assert length.steps(1000) == 50
    assert length.steps(13) == 13


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_the_automatic_length_is_at_least_one_step_whatever_the_clock_says(seconds):
    length = CallLength("auto")
    for _ in range(5):
        length.measured(1, seconds)
    assert length.steps(10**9) >= 1
