"""The shipped autoencoder of pictures, measured: reconstructions of pictures it never saw, and codes that follow the prior."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from gantrain import experiment, registry
from gantrain.data.catalog import FashionSample
from gantrain.spec.parse import load_spec

CONFIG = Path(__file__).parents[2] / "configs" / "fashion_aae.yaml"

pytestmark = pytest.mark.slow


class Measured(NamedTuple):
    """After all steps: mean squared error in [0, 1] of 1,000 held-out pictures, distance of codes and its floor, CPU time."""

    held_out_mse: float
    code_mmd: float
    floor: float
    cpu_sec: float


def trained(*overrides: str) -> Measured:
    started, spec = time.process_time(), load_spec(CONFIG, overrides).spec
    source, _ = experiment.open_source(spec, CONFIG.parent)
    built = experiment.build_any(spec, source)
    built.start_data()
    assert built.engine.run(built.total_steps).fine
    spent = time.process_time() - started
    pictures = registry.build(FashionSample(split="test"), Path()).load(np.arange(1000))
    seen = built.transform.forward(tf.constant(pictures)).numpy()
    error = np.mean(np.square(seen - built.coder.rebuild(seen, None))) / 4  # [-1, 1] is twice as wide as [0, 1]
    scores = built.score()
    return Measured(float(error), scores["eval/code_mmd"], scores["eval/code_mmd_floor"], spent)


def test_unseen_pictures_come_back_and_codes_follow_the_prior_only_because_they_are_made_to():
    with_game, without = trained(), trained("objective.regularisation_weight=0")
    assert with_game.held_out_mse < 0.02
    assert with_game.code_mmd <= 6 * with_game.floor
    assert with_game.code_mmd <= without.code_mmd / 3
    assert with_game.cpu_sec < 2 * 300  # five minutes on two cores
