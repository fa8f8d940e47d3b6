"""`validate-config --deep`, through the command line: planted faults in code, each named; sound nets, none."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from gantrain import plugins, registry
from tests.e2e.command import here, write_config

FAULTY = Path(__file__).with_name("faulty.py")
SMALL = {"data.batch_size": 16, "training": {"steps": 60}, "plugins": ["./faulty.py"], "latent": {"size": 4}}
DISCRIMINATOR = {"name": "mlp", "units": [16]}


@pytest.fixture(autouse=True)
def _apart(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    shutil.copy(FAULTY, tmp_path)
    yield
    for module in list(plugins._loaded):
        registry.forget(module)
        del plugins._loaded[module]
        sys.modules.pop(module, None)


def deep(capsys, tmp_path, changes=None, *arguments):
    config = write_config(tmp_path / "spec.yaml", {**SMALL, "discriminator": DISCRIMINATOR, **(changes or {})})
    done = here(capsys, "validate-config", config, "--deep", "--allow-plugins", "--json", *arguments)
    return done.code, json.loads(done.out)


def errors(report):
    return {
        (problem["rule"], problem["path"]): problem["message"] for problem in report["problems"] if problem["severity"] == "error"
    }


def test_sound_nets_come_out_without_error_or_warning(capsys, tmp_path):
    changes = {"generator": {"name": "faulty"}, "discriminator": {"name": "faulty"}, "objective.penalties": ["r1"]}
    code, report = deep(capsys, tmp_path, changes)
    assert (code, [problem for problem in report["problems"] if problem["severity"] != "note"]) == (0, [])
    assert report["deep"]["costs"]["parameters"] == {"generator": 4 * 8 + 8 + 8 * 64 + 64, "discriminator": 40 + 148 + 520 + 9}
    assert [row["shape"] for row in report["deep"]["layers"]["discriminator"]] == [[8, 8, 4], [4, 4, 4], [8], [1]]


@pytest.mark.parametrize(
    ("net", "fault", "rule", "words"),
    [
        ("generator", "stop", "gradient-none", "generator/first/kernel, generator/first/bias"),
        pytest.param("generator", "zero", "gradient-zero", "generator/first/kernel", marks=pytest.mark.slow),
        ("generator", "linear", "output-range", "nothing keeps the generator's values in the range"),
        pytest.param(
            "generator",
            "sigmoid",
            "output-range",
            "let its last activation be tanh",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "generator",
            "shape",
            "output-shape",
            "[2, 8, 2, 1] float32 for a batch of 2; it must give [2, 8, 8, 1]",
            marks=pytest.mark.slow,
        ),
        pytest.param("generator", "hidden", "variable-hidden", "stray", marks=pytest.mark.slow),
        pytest.param("generator", "noise", "not-repeatable", "other values", marks=pytest.mark.slow),
        pytest.param("generator", "numpy", "not-repeatable", "other values", marks=pytest.mark.slow),
        pytest.param("generator", "frozen", "statistics-frozen", "norm/moving_mean", marks=pytest.mark.slow),
        pytest.param("generator", "twice", "statistics-twice", "norm", marks=pytest.mark.slow),
        ("generator", "raises", "component-fails", "KeyError: oops"),
        pytest.param("discriminator", "frozen", "statistics-frozen", "norm/moving_mean", marks=pytest.mark.slow),
        ("discriminator", "sigmoid", "logits-activation", "a sigmoid or tanh is inside"),
        pytest.param("discriminator", "assigns", "wrong-net-updated", "discriminator/conv/kernel", marks=pytest.mark.slow),
    ],
)
def test_a_fault_in_a_net_is_found_by_name(capsys, tmp_path, net, fault, rule, words):
    code, report = deep(capsys, tmp_path, {net: {"name": "faulty", "fault": fault}})
    found = errors(report)
    assert code == 2
    assert words in found[rule, net]
    assert {key[0] for key in found} == {rule}


def test_a_layer_in_two_nets_is_found_by_both_names(capsys, tmp_path):
    fault = {"name": "faulty", "fault": "shared"}
    code, report = deep(capsys, tmp_path, {"generator": fault, "discriminator": fault, "latent.size": 64})
    (message,) = errors(report).values()
    assert (code, list(errors(report))) == (2, [("variable-shared", "discriminator")])
    assert "generator/" in message
    assert "discriminator/" in message


def test_a_penalty_through_an_op_without_second_derivative_is_found(capsys, tmp_path):
    changes = {"discriminator": {"name": "faulty", "fault": "bilinear"}, "objective.penalties": ["lecam", "gradient_penalty"]}
    code, report = deep(capsys, tmp_path, changes)
    assert (code, list(errors(report))) == (2, [("penalty-gradient", "objective.penalties.1")])


@pytest.mark.parametrize(
    ("key", "value", "path", "words"),
    [
        pytest.param("objective.loss", "always_nan", "objective.loss", "loss always_nan", marks=pytest.mark.slow),
        ("objective.loss", "nan_on_data", "discriminator", "gradient is NaN"),
        pytest.param("objective.penalties", ["nan_norm"], "discriminator", "gradient is NaN", marks=pytest.mark.slow),
    ],
)
def test_a_loss_that_is_nan_is_named(capsys, tmp_path, key, value, path, words):
    code, report = deep(capsys, tmp_path, {key: value})
    assert code == 2
    assert words in errors(report)["gradient-nonfinite", path]


@pytest.mark.parametrize(
    ("net", "fault", "rule"), [("generator", "zero", "gradient-zero"), ("discriminator", "frozen", "statistics-frozen")]
)
def test_fit_ends_after_a_first_step_that_moves_nothing(capsys, tmp_path, net, fault, rule):
    changes = {
        "generator": {"name": "mlp", "units": [8]},
        "discriminator": DISCRIMINATOR,
        net: {"name": "faulty", "fault": fault},
    }
    config = write_config(tmp_path / "spec.yaml", {**SMALL, **changes})
    done = here(capsys, "fit", config, "--allow-plugins", "--quiet")
    assert (done.code, done.err.startswith(f"error: {rule}: the first step")) == (2, True), done.err


def test_what_is_wrong_in_the_spec_and_in_the_data_does_not_hide_what_is_wrong_in_a_net(capsys, tmp_path):
    changes = {
        "data.source": {"name": "image_folder", "path": "none", "height": 8, "width": 8, "channels": 1},
        "data.shuffle_buffer": 5,
        "data.range": [0, 1],
        "generator": {"name": "faulty", "fault": "stop"},
    }
    code, report = deep(capsys, tmp_path, changes)
    assert code == 2
    assert {rule for rule, _ in errors(report)} == {"source-unreadable", "activation-range", "gradient-none", "output-range"}


def test_the_other_precision_is_advised_where_it_is_faster_by_more_than_measurements_differ():
    from gantrain.deepcheck.precision import advice

    (found,) = advice("float32", "mixed_bfloat16", 1.62)
    assert (found.rule, found.severity, found.path) == ("precision-faster", "note", ("training", "precision"))
    assert "mixed_bfloat16 is 1.62 times as fast as in float32" in found.message
    assert advice("float32", "mixed_bfloat16", 1.1) == advice("mixed_bfloat16", "float32", 0.5) == []


@pytest.mark.slow
@pytest.mark.parametrize("chosen", ["float32", "mixed_bfloat16"])
def test_both_precisions_are_measured_where_a_step_takes_long_enough(capsys, tmp_path, monkeypatch, chosen):
    monkeypatch.setattr("gantrain.deepcheck.precision.WORTH_SEC", 0.0)
    code, report = deep(capsys, tmp_path, {"training.precision": chosen})
    found = report["deep"]["precision"]
    assert (code, found["chosen"], sorted(found["step_sec"])) == (0, chosen, ["float32", "mixed_bfloat16"])
    assert all(0 < seconds < 10 for seconds in found["step_sec"].values())
    noted = [problem["message"] for problem in report["problems"] if problem["rule"] == "precision-faster"]
    assert len(noted) == (found["other_is_faster_by"] >= 1.15)
