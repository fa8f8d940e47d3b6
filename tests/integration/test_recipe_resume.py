"""Every recipe: steps in one go, one at a time, and with a checkpoint in between end with the same bytes."""

from __future__ import annotations

import pytest

from gantrain import checkpoint
from tests.helpers import BATCH_NORM, changed, snapshot, tiny_experiment

DCGAN = {"name": "dcgan", "base_width": 4}
RECIPES = {
    "lsgan_smoothed_and_flipped": {
        **BATCH_NORM,
        "objective": {"loss": {"name": "lsgan", "label_smoothing": 0.1, "flipped_share": 0.2}},
    },
    "hinge_spectral_replay_shared": {
        "objective": {"loss": "hinge"},
        "discriminator.norm": "spectral_norm",
        "replay": {"size": 12},
    },
    "wgan_gp_ttur": {
        "objective": {"loss": "wasserstein", "penalties": ["gradient_penalty"]},
        "discriminator.norm": "layer_norm",
        "training.discriminator_steps": 2,
        "training.fakes": "fresh",
        "optimizers.discriminator": {"name": "adam", "learning_rate": {"name": "linear", "start": 4e-4, "images": 64}},
    },
    "rpgan_r1_r2_cosine": {
        "objective": {"loss": "rpgan", "penalties": [{"name": "r1", "weight": 0.1}, {"name": "r2", "weight": 0.1, "every": 3}]},
        "optimizers.generator": {
            "name": "adam",
            "learning_rate": {"name": "cosine", "start": 1e-3, "images": 60, "warmup_images": 16},
        },
    },
    "lecam_consistency_orthogonal_skip": {
        "objective": {"loss": "relativistic_average", "penalties": ["lecam", "consistency"], "regularisers": ["orthogonal"]},
        "training.on_nonfinite": "skip",
        **BATCH_NORM,
    },
    "accumulated_with_replay_and_clipping": {
        "training.accumulate": 2,
        "replay": {"size": 12, "probability": 0.7},
        "objective": {"constraints": [{"name": "clip_weights", "limit": 0.3}], "penalties": ["dragan"]},
    },
    "conditional_resnet": {
        "generator": {"name": "sngan_resnet", "width": 4, "conditioning": "conditional_batch_norm"},
        "discriminator": {"name": "sngan_resnet", "width": 4, "conditioning": "projection"},
        "objective": {"loss": "hinge"},
    },
    "auxiliary_dcgan_with_everything": {
        "generator": {**DCGAN, "norm": "pixel_norm", "conditioning": "embedding", "resample": "blur"},
        "discriminator": {
            **DCGAN,
            "norm": "spectral_norm",
            "conditioning": "auxiliary",
            "minibatch_std": True,
            "resample": "blur",
        },
        "replay": {"size": 12},
    },
    "attention_simultaneous_jit": {
        "generator": {**DCGAN, "stages": 2, "attention": 4},
        "discriminator": {**DCGAN, "stages": 2, "attention": 4, "norm": "spectral_norm"},
        "objective": {"loss": "relativistic_average"},
        "training.updates": "simultaneous",
        "training.jit": True,
    },
    "float16": {**BATCH_NORM, "training.precision": "mixed_float16"},
}
BEFORE, AFTER = 3, 20


SLOW = (
    "conditional_resnet",
    "wgan_gp_ttur",
    "auxiliary_dcgan_with_everything",
    "attention_simultaneous_jit",
    "float16",
)  # to trace


@pytest.mark.parametrize("recipe", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in RECIPES])
def test_interrupted_or_not_and_whatever_the_length_of_a_call_a_recipe_ends_with_the_same_bytes(tmp_path, recipe):
    whole = tiny_experiment(RECIPES[recipe], started=True)
    assert whole.engine.run(BEFORE).fine
    path = checkpoint.save(tmp_path, BEFORE, whole.state, "", whole.data_facts)
    assert whole.engine.run(AFTER).fine
    resumed = tiny_experiment(RECIPES[recipe])
    checkpoint.restore(path, resumed.state)
    before = snapshot(resumed.state)
    resumed.start_data()
    for _ in range(AFTER):
        assert resumed.engine.run(1).fine
    assert not changed(snapshot(whole.state), snapshot(resumed.state))
    own = {key for key in changed(before, snapshot(resumed.state)) if key.startswith(("penalty/", "replay/", "loss_scale"))}
    expected = {"lecam_consistency_orthogonal_skip": "penalty/", "float16": "loss_scale"}.get(recipe, "replay/")
    assert any(key.startswith(expected) for key in own) or not any(key.startswith(expected) for key in before)
