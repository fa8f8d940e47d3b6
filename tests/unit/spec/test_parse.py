from __future__ import annotations

import re
from pathlib import Path

import pytest

from gantrain.errors import UsageError
from gantrain.spec.parse import default_name, load_spec, load_spec_text
from gantrain.spec.problems import SpecError

SPECS = Path(__file__).resolve().parents[2] / "specs"
CONFIGS = Path(__file__).resolve().parents[3] / "configs"
BAD = sorted((SPECS / "bad").glob("*.yaml"))
GOOD = sorted((SPECS / "good").glob("*.yaml"))
SHIPPED = sorted(CONFIGS.rglob("*.yaml"))
EXPECT = re.compile(r"^# expect (\d+):(\d+) ([a-z-]+): (.*)$", re.MULTILINE)


def test_there_are_cases():
    assert len(BAD) >= 24
    assert len(GOOD) >= 4
    assert len(SHIPPED) > 0


@pytest.mark.parametrize("file", BAD, ids=lambda file: file.stem)
def test_a_bad_spec_gives_exactly_the_errors_it_announces(file):
    expected = EXPECT.findall(file.read_text())
    assert expected, "a case starts with lines '# expect LINE:COLUMN RULE: part of the message'"
    with pytest.raises(SpecError) as caught:
        load_spec(file)
    errors = [problem for problem in caught.value.problems if problem.severity == "error"]
    assert [(str(error.line), str(error.column), error.rule) for error in errors] == [case[:3] for case in expected]
    for error, (*_, words) in zip(errors, expected, strict=True):
        assert words.strip() in error.message.replace(f"{file.parent}/", "")


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.stem)
def test_a_good_spec_has_no_errors_and_no_warnings(file):
    assert [problem for problem in load_spec(file).warnings if problem.severity != "note"] == []


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_shipped_config_has_no_errors_and_no_warnings(file):
    assert [problem for problem in load_spec(file).warnings if problem.severity != "note"] == []


def test_the_loaded_spec_keeps_its_text_folder_and_facts():
    file = SPECS / "good" / "everything.yaml"
    loaded = load_spec(file)
    assert loaded.text == file.read_text()
    assert loaded.base_dir == file.parent
    assert loaded.facts is not None
    assert loaded.facts.length == 1000
    assert loaded.tree["training"]["clip_norm"] == 1
    assert loaded.spec.optimizers.generator.learning_rate.start == 1e-4


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("my run.v2.yaml", "my-run.v2"),
        ("-x-.yaml", "x-"),
        ("ÄÖ.yaml", "run"),
        ("a" * 200 + ".yaml", "a" * 100),
    ],
)
def test_the_name_defaults_to_the_files_stem_made_fit_for_a_directory(file, name):
    assert default_name(Path(file)) == name


def test_a_number_in_quotes_is_a_number_where_one_is_wanted(tree_of):
    text = (SPECS / "good" / "smallest.yaml").read_text()
    loaded = load_spec_text(text.replace("steps: 10", "steps: '10', clip_norm: '2e-4'"))
    assert (loaded.spec.training.steps, loaded.spec.training.clip_norm) == (10, 2e-4)


def test_a_missing_file_is_a_usage_error_not_a_traceback(tmp_path):
    with pytest.raises(UsageError, match=r"cannot read .*none\.yaml"):
        load_spec(tmp_path / "none.yaml")


def test_a_source_that_cannot_be_read_ends_with_the_exit_code_of_data():
    text = (SPECS / "good" / "smallest.yaml").read_text()
    folder = "{name: image_folder, path: no/such, height: 8, width: 8}"
    with pytest.raises(SpecError) as caught:
        load_spec_text(text.replace("digits", folder))
    assert caught.value.exit_code == 4
    with pytest.raises(SpecError) as caught:
        load_spec_text(text.replace("digits", folder).replace("steps: 10", "stepz: 10"))
    assert caught.value.exit_code == 2
