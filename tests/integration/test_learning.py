"""A GAN that learns: any sign error in a loss, a gradient or an update fails here."""

from __future__ import annotations

import numpy as np

from gantrain.data.gaussian_mixture import modes
from tests.helpers import tiny_experiment

TWO_MODES = {
    "data.source": {"name": "gaussian_mixture", "modes": 2, "radius": 1.0, "std": 0.1, "size": 2000},
    "data.range": None,
    "data.batch_size": 64,
    "generator": {"name": "mlp", "units": [32, 32]},
    "discriminator": {"name": "mlp", "units": [32, 32]},
    "latent.size": 2,
    "training": {"steps": 700, "ema": {"half_life_images": 3200, "ramp": None}},
    "optimizers": {role: {"name": "adam", "learning_rate": 1e-3} for role in ("generator", "discriminator")},
}


def distances(experiment, count=1000):
    points = experiment.sampler.draw(0, count)
    return np.linalg.norm(points[:, None] - modes(experiment.spec.data.source)[None], axis=-1)


def test_both_of_two_modes_are_found_and_nearly_all_points_lie_on_them():
    experiment = tiny_experiment(TWO_MODES, started=True)
    before = distances(experiment)
    assert (before.min(axis=1) < 0.4).mean() < 0.2  # the untrained generator does not know them
    assert experiment.engine.run(700).fine
    after = distances(experiment)
    near = after.min(axis=1) < 0.4  # four standard deviations
    shares = np.bincount(after[near].argmin(axis=1), minlength=2) / len(after)
    assert near.mean() > 0.8
    assert shares.min() > 0.2
