"""Facts that the catalog rows declare, as functions of their settings. No TensorFlow."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import ValidationError

from gantrain import registry
from gantrain.models.catalog import DcganDiscriminator, DcganGenerator, MlpDiscriminator, MlpGenerator, TruncatedNormal


def test_the_catalogs_load_without_tensorflow():
    code = "import sys, gantrain.models.catalog, gantrain.objectives.catalog; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("settings", [MlpGenerator, DcganGenerator])
@pytest.mark.parametrize(
    ("data_range", "activation"),
    [((-1, 1), "tanh"), ((0, 1), "sigmoid"), (None, "linear"), ((0, 255), "linear"), ((-1, 0.5), "linear")],
)
def test_auto_matches_the_last_activation_to_the_range(settings, data_range, activation):
    assert settings().last_activation(data_range) == activation


def test_a_named_activation_is_kept_whatever_the_range():
    assert MlpGenerator(activation="sigmoid").last_activation((-1.0, 1.0)) == "sigmoid"


def test_norms_follow_the_settings():
    assert MlpGenerator().norms() == frozenset()
    assert MlpDiscriminator(norm="batch_norm").norms() == {"batch_norm"}
    assert MlpDiscriminator(norm="batch_norm", units=(8,)).norms() == frozenset()
    assert DcganGenerator().norms() == {"batch_norm"}
    assert DcganDiscriminator(norm="none").norms() == frozenset()
    assert DcganDiscriminator(stages=1).norms() == frozenset()


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        (MlpGenerator, {"units": []}),
        (MlpGenerator, {"units": [8, 0]}),
        (MlpDiscriminator, {"dropout": 1.0}),
        (DcganGenerator, {"stages": -1}),
        (DcganGenerator, {"stages": True}),
        (DcganGenerator, {"kernel_size": 1}),
        (DcganGenerator, {"conditioning": "projection"}),
        (DcganDiscriminator, {"activation": "tanh"}),
        (DcganDiscriminator, {"norm_momentum": 1.0}),
        (TruncatedNormal, {"limit": 0}),
    ],
)
def test_settings_that_cannot_work_are_refused(settings, wrong):
    with pytest.raises(ValidationError):
        settings(**wrong)


@pytest.mark.parametrize("kind", ["generator", "discriminator", "prior", "loss"])
def test_every_row_has_a_summary_of_one_line(kind):
    for row in registry.rows(kind):
        assert 10 < len(row.summary) < 110
        assert row.summary.endswith(".")
