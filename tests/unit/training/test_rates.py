"""Learning rates over images seen."""

from __future__ import annotations

import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.training import catalog
from tests.helpers import tiny_experiment

COSINE = catalog.Cosine(start=2e-4, end=1e-4, images=1000)
LINEAR = catalog.Linear(start=2e-4, end=1e-4, images=1000)
WARM = catalog.Constant(start=2e-4, warmup_images=500)


@pytest.mark.parametrize(
    ("settings", "images", "rate"),
    [
        (COSINE, 0, 2e-4),
        (COSINE, 500, 1.5e-4),
        (COSINE, 250, 1.8535533906e-4),
        (COSINE, 1000, 1e-4),
        (COSINE, 3e9, 1e-4),
        (LINEAR, 0, 2e-4),
        (LINEAR, 250, 1.75e-4),
        (LINEAR, 1000, 1e-4),
        (LINEAR, 3e9, 1e-4),
        (WARM, 0, 0.0),
        (WARM, 125, 0.5e-4),
        (WARM, 500, 2e-4),
        (WARM, 3e9, 2e-4),
        (catalog.Cosine(start=2e-4, images=1000, warmup_images=500), 250, 0.5 * 2e-4 * 0.85355339),
    ],
)
def test_a_rate_is_a_function_of_the_images_seen(settings, images, rate):
    assert float(registry.build(settings)(tf.constant(images, tf.float32))) == pytest.approx(rate, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("jit", [False, True])
def test_the_optimizer_is_given_the_rate_of_the_images_seen_before_the_step(jit):
    """Batches of 8, two discriminator updates a step: at step 3, 48 images were seen."""
    rate = {"name": "linear", "start": 0.1, "end": 0.0, "images": 64}
    changes = {
        "optimizers.generator": {"name": "sgd", "learning_rate": rate},
        "training.discriminator_steps": 2,
        "training.jit": jit,
        "training.health": "off",
    }
    experiment = tiny_experiment(changes, started=True)
    experiment.engine.run(3)
    before = experiment.state["generator/out/bias"].numpy()
    experiment.engine.run(1)
    moved = experiment.state["generator/out/bias"].numpy() - before
    slots = experiment.state["optimizer.generator/out/bias/accumulator"].numpy()  # momentum 0: the last gradient
    assert abs(moved).max() > 0
    assert moved == pytest.approx(-0.1 * (1 - 48 / 64) * slots, rel=1e-4)
