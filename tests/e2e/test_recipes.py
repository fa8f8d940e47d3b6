"""The shipped recipes do what their first lines say. Minutes each: the slow tier."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gantrain.cli.main import main
from gantrain.data.catalog import GaussianMixture
from gantrain.data.gaussian_mixture import modes
from gantrain.training.health import UNIFORM_ADVICE, VANISHED_ADVICE, WON_ADVICE
from scripts import judge_fashion

CONFIGS = Path(__file__).parents[2] / "configs"

pytestmark = pytest.mark.slow


def gantrain(*arguments: str | Path) -> None:
    """Run a command in this process; it must end with exit code 0."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    assert end.value.code == 0


@pytest.fixture(autouse=True)
def healthy(capsys):
    """No recipe is told that it goes wrong."""
    yield
    told = capsys.readouterr().err
    assert not [advice for advice in (UNIFORM_ADVICE, VANISHED_ADVICE, WON_ADVICE) if advice in told]


def draw(run: Path, count: int) -> np.ndarray:
    gantrain("sample", run, "--as", "npz", "--count", count, "--out", run / "drawn.npz")
    return np.load(run / "drawn.npz")["samples"]


@pytest.mark.parametrize(("seed", "wanted"), [(0, 8), (1, 7), (2, 7)])
def test_the_ring_finds_its_modes_and_a_sign_error_anywhere_would_not(tmp_path, seed, wanted):
    """A mode is found if at least 1% of 10,000 points lie within 3 sigma of it."""
    gantrain("fit", CONFIGS / "ring.yaml", "--run-dir", tmp_path / "run", "--quiet", "--set", f"seed={seed}")
    settings = GaussianMixture()
    distances = np.linalg.norm(draw(tmp_path / "run", 10_000)[:, None] - modes(settings), axis=2)
    near = distances.min(axis=1) < 3 * settings.std
    found = np.bincount(distances.argmin(axis=1)[near], minlength=8) >= 100
    assert found.sum() >= wanted
    if seed == 0:
        assert near.mean() >= 0.85


@pytest.mark.parametrize("recipe", ["quickstart", "lsgan", "r1", "hinge_spectral", "wgan_gp"])
def test_a_recipe_draws_clothes_that_a_classifier_of_real_ones_names(tmp_path, recipe):
    gantrain("fit", CONFIGS / f"{recipe}.yaml", "--run-dir", tmp_path / "run", "--quiet")
    model, accuracy = judge_fashion.trained()
    assert accuracy >= 0.8, "the judge itself is no good"
    verdict = judge_fashion.judge(draw(tmp_path / "run", 1000), model)
    assert verdict["classes_found"] >= 8
    assert verdict["median_confidence"] >= 0.8
