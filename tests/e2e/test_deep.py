"""`validate-config --deep`, through the command line: planted faults in code, each named; sound nets, none."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from gantrain import plugins, registry
from tests.e2e.command import here, write_config
from tests.helpers import with_changes

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


SLOW = pytest.mark.slow
AAE = {
    "task": "aae",
    "encoder": {"name": "faulty"},
    "decoder": {"name": "faulty"},
    "discriminator": DISCRIMINATOR,
    "prior": {"name": "normal", "size": 4},
    "training": {"steps": 60},
}
HISTORY = {
    "task": "history",
    "data": {
        "source": {"name": "window_teacher", "inputs": 5, "outputs": 3, "length": 3, "size": 42},
        "order": "sequential",
        "batch_size": 8,
    },
    "model": {"name": "faulty"},
    "history": {"length": 3},
    "training": {"steps": 60},
}


def loss_fault(fault):
    return {"objective": {"loss": {"name": "faulty", "fault": fault}}}


def of_task(capsys, tmp_path, base, changes):
    tree = with_changes(
        {"name": "tiny", "data": {"source": "digits", "batch_size": 16}, "plugins": ["./faulty.py"], **base}, changes
    )
    config = tmp_path / "spec.yaml"
    config.write_text(yaml.safe_dump(tree))
    done = here(capsys, "validate-config", config, "--deep", "--allow-plugins", "--json")
    return done.code, json.loads(done.out)


@pytest.mark.parametrize(
    ("net", "fault", "rule", "words"),
    [
        ("generator", "stop", "gradient-none", "generator/first/kernel, generator/first/bias"),
        pytest.param("generator", "constant", "gradient-none", "generator/first/kernel", marks=SLOW),
        pytest.param("generator", "zero", "gradient-zero", "generator/first/kernel", marks=SLOW),
        pytest.param("generator", "nan", "gradient-nonfinite", "the generator gives NaN", marks=SLOW),
        ("generator", "linear", "output-range", "nothing keeps the generator's values in the range"),
        pytest.param("generator", "sigmoid", "output-range", "let its last activation be tanh", marks=SLOW),
        pytest.param("generator", "shape", "output-shape", "of 2; it must give [2, 8, 8, 1]", marks=SLOW),
        pytest.param("generator", "hidden", "variable-hidden", "stray", marks=SLOW),
        pytest.param("generator", "lambda", "variable-hidden", "kernel", marks=SLOW),
        pytest.param("generator", "noise", "not-repeatable", "other values", marks=SLOW),
        pytest.param("generator", "numpy", "not-repeatable", "other values", marks=SLOW),
        pytest.param("generator", "noise_in_training", "not-repeatable", "training=True", marks=SLOW),
        pytest.param("generator", "numpy_in_training", "not-repeatable", "training=True", marks=SLOW),
        pytest.param("generator", "frozen", "statistics-frozen", "norm/moving_mean", marks=SLOW),
        pytest.param("generator", "twice", "statistics-twice", "norm", marks=SLOW),
        ("generator", "raises", "component-fails", "KeyError: oops"),
        pytest.param("discriminator", "raises", "component-fails", "ValueError: no such mode", marks=SLOW),
        pytest.param("discriminator", "shape", "output-shape", "it must give [2] float32", marks=SLOW),
        pytest.param("discriminator", "frozen", "statistics-frozen", "norm/moving_mean", marks=SLOW),
        ("discriminator", "sigmoid", "logits-activation", "a sigmoid or tanh is inside"),
        pytest.param("discriminator", "assigns", "wrong-net-updated", "discriminator/conv/kernel", marks=SLOW),
    ],
)
def test_a_fault_in_a_net_is_found_by_name(capsys, tmp_path, net, fault, rule, words):
    code, report = deep(capsys, tmp_path, {net: {"name": "faulty", "fault": fault}})
    found = errors(report)
    assert code == 2
    assert {key[0] for key in found} == {rule}
    assert words in found[rule, net]


@pytest.mark.slow
def test_a_generator_that_lays_hands_on_the_discriminator_is_found(capsys, tmp_path):
    changes = {"generator": {"name": "faulty", "fault": "meddles"}, "discriminator": {"name": "faulty"}}
    found = errors(deep(capsys, tmp_path, changes)[1])
    assert "the generator's update moves discriminator/conv/kernel" in found["wrong-net-updated", "discriminator"]


@pytest.mark.parametrize(
    ("changes", "rule", "path", "words"),
    [
        pytest.param({"encoder.fault": "stop"}, "gradient-none", "encoder", "encoder/first/kernel", marks=SLOW),
        pytest.param({"encoder.fault": "nan"}, "gradient-nonfinite", "encoder", "the encoder gives NaN", marks=SLOW),
        pytest.param({"encoder.fault": "shape"}, "output-shape", "encoder", "it must give [2, 4] float32", marks=SLOW),
        pytest.param({"encoder.fault": "noise"}, "not-repeatable", "encoder", "other values", marks=SLOW),
        pytest.param({"encoder.fault": "raises"}, "component-fails", "encoder", "KeyError: oops", marks=SLOW),
        pytest.param({"encoder.fault": "frozen"}, "statistics-frozen", "encoder", "norm/moving_mean", marks=SLOW),
        pytest.param({"encoder.fault": "twice"}, "statistics-twice", "encoder", "norm", marks=SLOW),
        pytest.param({"encoder.fault": "lambda"}, "variable-hidden", "encoder", "kernel", marks=SLOW),
        pytest.param({"decoder.fault": "stop"}, "gradient-none", "decoder", "decoder/first/kernel", marks=SLOW),
        ({"decoder.fault": "linear"}, "output-range", "decoder", "nothing keeps the decoder's values in the range"),
        pytest.param({"decoder.fault": "hidden"}, "variable-hidden", "decoder", "stray", marks=SLOW),
        pytest.param({"decoder.fault": "raises"}, "component-fails", "decoder", "KeyError: oops", marks=SLOW),
        pytest.param({"objective": {"loss": "nan_on_data"}}, "gradient-nonfinite", "discriminator", "NaN", marks=SLOW),
    ],
)
def test_a_fault_in_an_autoencoder_is_found_by_name(capsys, tmp_path, changes, rule, path, words):
    code, report = of_task(capsys, tmp_path, AAE, changes)
    assert code == 2
    assert words in errors(report)[rule, path]


@pytest.mark.parametrize(
    ("changes", "rule", "path", "words"),
    [
        ({"model.fault": "stop"}, "gradient-none", "model", "model/first/kernel"),
        pytest.param({"model.fault": "nan"}, "gradient-nonfinite", "model", "the model gives NaN", marks=SLOW),
        pytest.param({"model.fault": "shape"}, "output-shape", "model", "it must give [2, 3] float32", marks=SLOW),
        pytest.param({"model.fault": "noise"}, "not-repeatable", "model", "other values", marks=SLOW),
        pytest.param({"model.fault": "raises"}, "component-fails", "model", "KeyError: oops", marks=SLOW),
        pytest.param({"model.fault": "frozen"}, "statistics-frozen", "model", "norm/moving_mean", marks=SLOW),
        pytest.param({"model.fault": "twice"}, "statistics-twice", "model", "norm", marks=SLOW),
        pytest.param({"model.fault": "lambda"}, "variable-hidden", "model", "kernel", marks=SLOW),
        pytest.param(loss_fault("nan"), "gradient-nonfinite", "objective.loss", "Z = 0", marks=SLOW),
        pytest.param(loss_fault("nan_on_data"), "gradient-nonfinite", "objective.loss", "NaN", marks=SLOW),
        pytest.param(loss_fault("deaf"), "gradient-none", "objective.loss", "no gradient to Z", marks=SLOW),
    ],
)  # fmt: skip
def test_a_fault_in_a_history_is_found_by_name(capsys, tmp_path, changes, rule, path, words):
    code, report = of_task(capsys, tmp_path, HISTORY, changes)
    assert code == 2
    assert words in errors(report)[rule, path]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "updates"), [(AAE, ["reconstruction", "discriminator", "regularisation"]), (HISTORY, ["model"])]
)
def test_sound_nets_of_other_tasks_come_out_clean_with_each_of_their_updates(capsys, tmp_path, base, updates):
    code, report = of_task(capsys, tmp_path, base, {})
    assert (code, [problem for problem in report["problems"] if problem["severity"] != "note"]) == (0, [])
    assert list(report["deep"]["updates"]) == updates
    assert report["deep"]["costs"]["step_sec"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(("base", "net"), [(AAE, "encoder"), (HISTORY, "model")])
def test_fit_of_other_tasks_names_a_plugin_that_raises_only_in_training_and_a_net_that_stands_still(capsys, tmp_path, base, net):
    tree = with_changes(
        {"name": "tiny", "data": {"source": "digits", "batch_size": 16}, "plugins": ["./faulty.py"], **base},
        {f"{net}.fault": "raises"},
    )
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(tree))
    done = here(capsys, "fit", tmp_path / "spec.yaml", "--allow-plugins", "--quiet")
    assert (done.code, "faulty.py:" in done.err, "KeyError: oops" in done.err) == (2, True, True), done.err


def test_a_layer_in_two_nets_is_found_by_both_names(capsys, tmp_path):
    fault = {"name": "faulty", "fault": "shared"}
    code, report = deep(capsys, tmp_path, {"generator": fault, "discriminator": fault, "latent.size": 64})
    (message,) = errors(report).values()
    assert (code, list(errors(report))) == (2, [("variable-shared", "discriminator")])
    assert "generator/" in message
    assert "discriminator/" in message


@pytest.mark.slow
def test_a_penalty_that_stops_its_own_gradient_is_found(capsys, tmp_path):
    changes = {"discriminator": {"name": "faulty"}, "objective.penalties": ["half_slope"]}
    code, report = deep(capsys, tmp_path, changes)
    assert (code, list(errors(report))) == (2, [("penalty-gradient", "objective.penalties.0")])


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "rule"), [("random_margin", "not-repeatable"), ("deaf", "gradient-none")])
def test_a_loss_that_draws_or_does_not_read_its_logits_is_found(capsys, tmp_path, loss, rule):
    assert [name for name, _ in errors(deep(capsys, tmp_path, {"objective.loss": loss})[1])] == [rule]


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


def test_fit_names_the_line_of_a_plugin_that_raises_only_in_training(capsys, tmp_path):
    config = write_config(
        tmp_path / "spec.yaml", {**SMALL, "generator": {"name": "faulty", "fault": "raises"}, "discriminator": DISCRIMINATOR}
    )
    done = here(capsys, "fit", config, "--allow-plugins", "--quiet")
    line = next(number for number, text in enumerate(FAULTY.read_text().splitlines(), 1) if 'KeyError("oops")' in text)
    assert (done.code, f"faulty.py:{line}: KeyError: oops" in done.err, "Traceback" in done.err) == (2, True, False), done.err


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
