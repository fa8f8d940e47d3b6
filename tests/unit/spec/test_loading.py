from __future__ import annotations

import time

import pytest

from gantrain.errors import UsageError
from gantrain.spec.loading import MAX_BYTES, MAX_DEPTH, load_text, read_text
from gantrain.spec.problems import Place, SpecError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-4", 1e-4),
        ("1E4", 10000.0),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("010", 10),
        ("0o10", 8),
        ("0xfF", 255),
        ("-7", -7),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("1:30", "1:30"),
        ("2020-01-01", "2020-01-01"),
        ("no", "no"),
        ("Yes", "Yes"),
        ("on", "on"),
        ("TRUE", True),
        ("false", False),
        ("tRUE", "tRUE"),
        ("~", None),
        ("Null", None),
        ("", None),
        ("nuLL", "nuLL"),
        ("-.INF", float("-inf")),
        ("'1e-4'", "1e-4"),
        ('"true"', "true"),
        ("=", "="),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text, value):
    loaded = load_text(f"x: {text}", "f")
    assert loaded.problems == []
    assert loaded.tree["x"] == value
    assert type(loaded.tree["x"]) is type(value)


def test_every_key_and_value_has_its_line_and_column():
    loaded = load_text("data:\n  source: digits\n  list: [1, {a: 2}]\n", "f")
    assert loaded.positions.values[("data", "source")] == Place("f", 2, 11)
    assert loaded.positions.keys[("data", "source")] == Place("f", 2, 3)
    assert loaded.positions.values[("data", "list", 1, "a")] == Place("f", 3, 17)


def test_a_place_that_was_not_written_is_that_of_its_nearest_parent():
    loaded = load_text("top: 1\ndata:\n  source: digits\n", "f")
    assert loaded.positions.of_value(("data", "source", "split")) == Place("f", 3, 3)
    assert loaded.positions.of_value(("data", "range")) == Place("f", 2, 1)
    assert loaded.positions.of_value(("latent", "size")) == Place("f", 1, 1)


def test_a_duplicate_key_names_both_places_and_keeps_the_first():
    loaded = load_text("a: 1\nb: 2\na: 3\n", "f")
    assert [str(problem) for problem in loaded.problems] == [
        "f:3:1: error [duplicate-key]: a is written twice; the first is at f:1:1; keep one of them"
    ]
    assert loaded.tree == {"a": 1, "b": 2}


def test_merged_keys_give_way_to_own_ones_and_keep_the_places_where_they_were_written():
    loaded = load_text("one: &one {x: 1, y: 2}\ntwo: &two {y: 3, z: 4}\nall:\n  <<: [*one, *two]\n  x: 9\n", "f")
    assert loaded.tree["all"] == {"x": 9, "y": 2, "z": 4}
    assert loaded.positions.values[("all", "x")] == Place("f", 5, 6)
    assert loaded.positions.values[("all", "z")] == Place("f", 2, 21)


def test_aliases_are_written_out_independently():
    tree = load_text("a: &l [1]\nb: *l\n", "f").tree
    assert tree["a"] == tree["b"]
    assert tree["a"] is not tree["b"]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "f:1:1", "empty"),
        ("# only this\n", "f:1:1", "empty"),
        ("a: 1\n\tb: 2\n", "f:2:1", "tab"),
        ("a: [1, 2\n", "f:2:1", "the bracket that was opened in line 1 is not closed"),
        ("a: 1\n---\nb: 2\n", "f:2:1", "second document"),
        ("a: 1\nb: c: d\n", "f:2:5", "colon"),
        ("a: \x07\n", "f:1:4", "number 7"),
        ('a: 1\nb: "\\UFFFFFFFF"\n', "f:2:5", "\\U"),
        ('a: "\\ud800"\n', "f:1:4", "surrogate"),
        ("a: *nothing\n", "f:1:4", "defined nowhere"),
        ("a: !!int x\n", "f:1:4", "tag"),
        ("a: !!timestamp 2020-01-01\n", "f:1:4", "tag"),
        ("a: !mine {}\n", "f:1:4", "tag"),
        ("a: " + "9" * 301 + "\n", "f:1:4", "digits"),
        ("a: &x\n  b: *x\n", "f:1:4", "itself"),
        ("a:\n  <<: 3\n", "f:2:7", "<<"),
        ("null: 3\n", "f:1:1", "key"),
        ("? [a]\n: 3\n", "f:1:3", "key"),
        ("a: {{ b }}\n", "f:1:5", "key"),
    ],
)
def test_what_is_not_yaml_is_one_problem_with_its_place(text, place, words):
    problems = load_text(text, "f").problems
    assert len(problems) == 1
    assert str(problems[0].place) == place
    assert words in problems[0].message


def test_depth_is_bounded_exactly_and_never_exhausts_the_stack():
    assert load_text("[" * MAX_DEPTH + "]" * MAX_DEPTH, "f").problems == []
    for depth in (MAX_DEPTH + 1, 50_000):
        assert "deeper" in load_text("[" * depth, "f").problems[0].message


def test_a_bomb_of_aliases_is_refused_in_a_moment():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    start = time.perf_counter()
    loaded = load_text("\n".join(lines), "f")
    assert time.perf_counter() - start < 2
    assert [problem.rule for problem in loaded.problems] == ["yaml-syntax"]
    assert loaded.tree == {}


def test_a_file_may_start_with_a_byte_order_mark_and_end_lines_as_windows_does(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_bytes("\ufeffa: ä\r\nb: 2\r\n".encode())
    loaded = load_text(read_text(file), "f")
    assert loaded.tree == {"a": "ä", "b": 2}
    assert loaded.positions.keys[("b",)] == Place("f", 2, 1)


def test_a_file_in_another_encoding_is_refused_where_it_stops_being_utf_8(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_bytes("a: 1\nb: ä\n".encode("latin-1"))
    with pytest.raises(SpecError, match=r"a\.yaml:2:4: error \[yaml-syntax\]: this is not UTF-8"):
        read_text(file)


def test_files_that_are_missing_folders_or_huge_are_usage_errors(tmp_path):
    huge = tmp_path / "huge.yaml"
    huge.write_bytes(b"#" * (MAX_BYTES + 1))
    for path, words in ((tmp_path / "none.yaml", "No such file"), (tmp_path, "directory"), (huge, "larger than")):
        with pytest.raises(UsageError, match=words):
            read_text(path)
