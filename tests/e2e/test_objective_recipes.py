"""The recipes whose result is a number: modes of the grid, and classes that were asked for. Minutes each: the slow tier."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from scripts import judge_fashion
from tests.e2e.test_recipes import CONFIGS, gantrain, healthy  # noqa: F401  a fixture for all tests here

pytestmark = pytest.mark.slow


def scores(run: Path) -> dict:
    """The last line of scores."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if "eval/mode_coverage" in line][-1]


def test_relativistic_pairs_with_two_penalties_find_all_25_modes_of_the_grid(tmp_path):
    gantrain("fit", CONFIGS / "grid_rpgan.yaml", "--run-dir", tmp_path / "run", "--quiet")
    found = scores(tmp_path / "run")
    assert found["eval/mode_coverage"] == 25
    assert found["eval/high_quality"] >= 0.93


def test_a_conditional_generator_draws_the_class_it_is_asked_for(tmp_path):
    gantrain("fit", CONFIGS / "fashion_conditional.yaml", "--run-dir", tmp_path / "run", "--quiet")
    gantrain("sample", tmp_path / "run", "--as", "npz", "--count", 2000, "--out", tmp_path / "drawn.npz")
    model, accuracy = judge_fashion.trained()
    assert accuracy >= 0.85, "the judge itself is no good"
    with np.load(tmp_path / "drawn.npz") as drawn:
        verdict = judge_fashion.judge(drawn["samples"], model, drawn["labels"])
    assert verdict["asked_and_found"] >= 0.85
