from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gantrain.spec.loading import load_text
from gantrain.spec.model import Spec, to_tree
from gantrain.spec.parse import load_spec, read_resolved, spec_from_tree
from gantrain.spec.problems import SpecError
from gantrain.spec.trees import ABSENT, diff_trees, dump_yaml, resolved_tree

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted([*(ROOT / "tests" / "specs" / "good").glob("*.yaml"), *(ROOT / "configs").rglob("*.yaml")])
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False)
_TREES = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=20,
)


def _typed(tree):
    if isinstance(tree, dict):
        return {key: _typed(value) for key, value in tree.items()}
    return [_typed(value) for value in tree] if isinstance(tree, list) else (type(tree), repr(tree))


@settings(deadline=None)
@given(_TREES)
def test_what_is_written_reads_back_equal_in_value_and_type(tree):
    loaded = load_text(dump_yaml({"x": tree}), "f")
    assert loaded.problems == []
    assert _typed(loaded.tree["x"]) == _typed(tree)


@pytest.mark.parametrize(
    "text", ["1e4", "no", "0o10", "1:30", "~", "", " x", "- a", "a: b", "<<", "=", "2020-01-01", "\x85\u2028é😀", "#"]
)
def test_text_that_looks_like_something_else_reads_back_as_text_for_us_and_for_yaml_1_1(text):
    written = dump_yaml({"x": text})
    assert load_text(written, "f").tree == {"x": text}
    assert yaml.safe_load(written) == {"x": text}


@pytest.mark.parametrize("value", [1e-05, 1e16, 1e22, 5e-324, 1.7976931348623157e308, 0.1, -0.0, 3.0])
def test_floats_are_written_so_that_yaml_1_1_reads_the_same_float(value):
    assert yaml.safe_load(dump_yaml([value]))[0].hex() == value.hex()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_spec_written_resolved_and_read_back_is_the_same_spec(file, tmp_path):
    loaded = load_spec(file)
    tree = resolved_tree(loaded.spec, loaded.base_dir)
    copy = tmp_path / "spec.resolved.yaml"
    copy.write_text(dump_yaml(tree), encoding="utf-8")
    again = read_resolved(copy)
    assert resolved_tree(again, tmp_path) == tree
    assert diff_trees(to_tree(again), to_tree(loaded.spec)) == [("output.dir", tree["output"]["dir"], loaded.spec.output.dir)]


def test_a_resolved_spec_names_every_default(spec_of):
    tree = to_tree(spec_of("pictures"))
    assert set(tree) == set(Spec.model_fields)
    assert tree["optimizers"]["generator"] == {
        "name": "adam",
        "learning_rate": 2e-4,
        "beta_1": 0.5,
        "beta_2": 0.999,
        "epsilon": 1e-7,
    }
    assert tree["latent"] == {"size": 100, "distribution": {"name": "normal"}}


def test_paths_of_data_and_plugins_start_at_the_config_file_and_output_at_the_current_directory(spec_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = {"name": "image_folder", "path": "../pictures", "height": 8, "width": 8}
    spec = spec_of("pictures", data__source=source, output__dir="runs")
    tree = resolved_tree(spec, Path("configs/deep"))
    assert tree["data"]["source"]["path"] == os.path.join(tmp_path, "configs", "pictures")
    assert tree["output"]["dir"] == os.path.join(tmp_path, "runs")


def test_a_home_directory_is_written_out(spec_of, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    source = {"name": "arrays", "path": "~/x.npy", "labels": "/abs/y.npy"}
    tree = resolved_tree(spec_of("pictures", data__source=source), Path("/anywhere"))
    assert tree["data"]["source"]["path"] == str(tmp_path / "x.npy")
    assert tree["data"]["source"]["labels"] == "/abs/y.npy"


def test_a_tree_with_wrong_keys_is_refused_with_all_of_them(tree_of):
    with pytest.raises(SpecError) as caught:
        spec_from_tree(tree_of("pictures", training__x=1, seed=-1))
    assert [problem.rule for problem in caught.value.problems] == ["out-of-range", "unknown-key"]


def test_a_diff_names_keys_with_dots_and_says_what_is_absent():
    old = {"a": 1, "b": {"c": [1, 2], "d": None}, "p": [{"name": "x", "w": 1}], "e": {}}
    new = {"a": 1.0, "b": {"c": [1, 3]}, "p": [{"name": "x", "w": 2}, {"name": "y"}], "e": {}, "f": True}
    assert diff_trees(old, new) == [
        ("b.c", [1, 2], [1, 3]),
        ("b.d", None, ABSENT),
        ("p.0.w", 1, 2),
        ("p.1.name", ABSENT, "y"),
        ("f", ABSENT, True),
    ]
    assert diff_trees({"a": True}, {"a": 1}) == [("a", True, 1)]
    assert diff_trees(old, old) == []
