"""Steps in one go equal steps, a checkpoint, a new experiment, and the rest: every tensor to the byte."""

from __future__ import annotations

import pytest

from gantrain import checkpoint
from tests.helpers import BATCH_NORM, DROPOUT, changed, snapshot, tiny_experiment

DIGITS = 1797
DCGAN = {"generator": {"name": "dcgan", "base_width": 4}, "discriminator": {"name": "dcgan", "base_width": 4, "dropout": 0.2}}
PLANS = {
    "batch_norm_and_dropout": {**BATCH_NORM, **DROPOUT},
    "fresh_two_discriminator_steps_partial_epochs": {
        "training.fakes": "fresh",
        "training.discriminator_steps": 2,
        "data.batch_size": 600,
        "data.epoch_end": "partial",
    },
    "simultaneous_buffer_dropped_remainder_momentum": {
        **BATCH_NORM,
        "training.updates": "simultaneous",
        "data.shuffle_buffer": 1000,
        "data.batch_size": 700,
        "data.epoch_end": "drop",
        "optimizers.generator": {"name": "sgd", "momentum": 0.9},
        "optimizers.discriminator": "rmsprop",
    },
    "flips_two_discriminator_steps_shared_buffer": {
        **BATCH_NORM,
        "data.augment": {"horizontal_flip": True},
        "training.discriminator_steps": 2,
        "data.shuffle_buffer": 1200,
        "data.batch_size": 500,
    },
    "conditional_inference_fresh": {
        **BATCH_NORM,
        "generator.conditioning": "embedding",
        "discriminator.conditioning": "concat",
        "training.generator_mode": "inference",
        "training.fakes": "fresh",
        "data.batch_size": 500,
        "training.clip_norm": 0.1,
    },
    "mixed_bfloat16": {**BATCH_NORM, **DROPOUT, "training.precision": "mixed_bfloat16", "data.batch_size": 64},
    "dcgan_with_dropout": DCGAN,
    "jit": {**BATCH_NORM, "training.jit": True},
}
BEFORE, AFTER = 4, 5  # with 500 to 700 examples a batch, both parts cross the end of an epoch


SLOW = ("jit", "fresh_two_discriminator_steps_partial_epochs", "mixed_bfloat16")  # to compile or to trace


@pytest.mark.parametrize("plan", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in PLANS])
def test_an_interrupted_run_ends_with_the_bytes_of_one_that_was_not(tmp_path, plan):
    whole = tiny_experiment(PLANS[plan], started=True)
    assert whole.engine.run(BEFORE).fine
    path = checkpoint.save(tmp_path, BEFORE, whole.state, "", whole.data_facts)
    middle = snapshot(whole.state)
    assert whole.engine.run(AFTER).fine
    resumed = tiny_experiment(PLANS[plan])
    checkpoint.restore(path, resumed.state)
    assert snapshot(resumed.state) == middle
    resumed.start_data()
    assert resumed.engine.run(AFTER).fine
    assert not changed(snapshot(whole.state), snapshot(resumed.state))
    assert resumed.progress.means() == whole.progress.means()
    assert resumed.progress.step.numpy() == BEFORE + AFTER
    moved = changed(middle, snapshot(whole.state))
    assert {*whole.generator.trainable, *whole.discriminator.trainable} <= moved
