from __future__ import annotations

from pathlib import Path

import pytest

from gantrain.spec.parse import load_spec
from gantrain.spec.problems import SpecError

FILE = Path(__file__).resolve().parents[2] / "specs" / "good" / "smallest.yaml"


def _spec(*overrides):
    return load_spec(FILE, overrides).spec


def _errors(*overrides):
    with pytest.raises(SpecError) as caught:
        load_spec(FILE, overrides)
    return [str(problem) for problem in caught.value.problems if problem.severity == "error"]


def test_a_value_is_read_as_yaml_1_2():
    spec = _spec("training.steps=1e3", "name=no", "training.ema=", "data.range=[0, 1]", "optimizers.generator.learning_rate=1e-4")
    assert (spec.training.steps, spec.name, spec.training.ema, spec.data.range) == (1000, "no", None, (0.0, 1.0))
    assert spec.optimizers.generator.learning_rate == 1e-4


def test_the_last_override_of_a_key_wins():
    assert _spec("training.steps=1", "training.steps=2").training.steps == 2


def test_a_value_may_hold_an_equals_sign():
    assert "a=b" in _errors("name=a=b")[0]


def test_a_component_written_as_a_bare_name_takes_settings():
    spec = _spec("generator.units=[4, 5]")
    assert spec.generator.units == (4, 5)
    assert type(spec.generator).__name__ == "MlpGenerator"


def test_settings_of_a_component_that_is_not_written_go_to_its_default():
    assert _spec("optimizers.discriminator.beta_1=0").optimizers.discriminator.beta_1 == 0
    assert type(_spec("latent.distribution.name=uniform").latent.distribution).__name__ == "Uniform"


def test_a_setting_of_a_default_with_settings_of_its_own_leaves_the_others():
    file = FILE.with_name("adversarial_autoencoder.yaml")
    adam = load_spec(file, ["optimizers.reconstruction.learning_rate=5e-4"]).spec.optimizers.reconstruction
    assert (adam.learning_rate, adam.beta_1) == (5e-4, 0.9)


def test_a_whole_component_can_be_replaced():
    assert type(_spec("generator={name: dcgan, base_width: 8}").generator).__name__ == "DcganGenerator"


def test_positions_in_lists_count_from_zero_and_the_end_appends():
    spec = _spec("generator.units=[4, 5]", "generator.units.0=6", "generator.units.2=7")
    assert spec.generator.units == (6, 5, 7)


def test_what_an_override_says_wrong_is_shown_with_its_own_text():
    says = "training.steps is the text 'none'; write a whole number of at least 1 or null"
    assert _errors("training.steps=none") == [f"--set training.steps=none: error [wrong-type]: {says}"]
    assert _errors("training.stepz=3")[0].startswith(
        "--set training.stepz=3: error [unknown-key]: training has no key stepz; did you mean steps?"
    )


def test_rules_judge_overrides_and_point_at_them():
    assert _errors("training.epochs=3")[0].startswith("--set training.epochs=3: error [steps-or-epochs]")
    assert _errors("data.batch_size=5000")[0].startswith("--set data.batch_size=5000: error [batch-exceeds-data]")


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("training.steps", "write KEY=VALUE"),
        ("=3", "write KEY=VALUE"),
        ("training..steps=3", "write KEY=VALUE"),
        ("training.steps=[1", "the value: "),
        ("training.steps={a: 1, a: 2}", "written twice"),
        ("training.steps.deep=3", "has no keys inside"),
        ("plugins.1=x", "write a position from 0 to 0"),
        ("plugins.-1=x", "write a position from 0 to 0"),
        ("plugins.²=x", "write a position from 0 to 0"),
        ("generator={units: [3]}", "has no name"),
    ],
)
def test_an_override_that_cannot_be_applied_is_a_problem(override, words):
    errors = _errors("plugins=[]", override)
    assert len(errors) == 1
    assert errors[0].startswith(f"--set {override}: error [")
    assert words in errors[0]


def test_all_problems_of_file_and_overrides_come_at_once():
    assert len(_errors("a=1", "training.steps=x", "generator=none_such", "b.c")) == 4
