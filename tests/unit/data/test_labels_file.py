"""Files of labels as people have them: what is read, what is refused, and with which words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gantrain.data.labels_file import read
from gantrain.data.labels_join import join, sorted_labels
from gantrain.errors import DataError


def pairs(path: Path, text: str) -> dict[str, str]:
    path.write_text(text, encoding="utf-8")
    return {pair.name: pair.label for pair in read(path)}


@pytest.mark.parametrize(
    "text",
    [
        "file,label\na.png,cat\nb.png,dog\n",
        "\ufefffile,label\r\na.png,cat\r\nb.png,dog\r\n",
        "FileName;Class;notes\na.png;cat;x\nb.png;dog;y\n",
        "id\timage\tcategory\n1\ta.png\tcat\n2\tb.png\tdog\n",
        'file,label\n"a.png", cat \n\nb.png,dog',
        '{"a.png": "cat", "b.png": "dog"}',
        '{"labels": [["a.png", "cat"], ["b.png", "dog"]]}',
        '[{"file": "a.png", "label": "cat"}, {"Image": "b.png", "Class": "dog"}]',
        '{"file_name": "a.png", "label": "cat"}\n\n{"file_name": "b.png", "label": "dog"}\n',
    ],
)
def test_csv_and_json_give_the_same_pairs(tmp_path: Path, text: str):
    assert pairs(tmp_path / "labels", text) == {"a.png": "cat", "b.png": "dog"}


def test_numbers_and_names_that_look_like_numbers_stay_text(tmp_path: Path):
    assert pairs(tmp_path / "x.csv", "file,label\n1.png,007\n2.png,1e5\n") == {"1.png": "007", "2.png": "1e5"}
    assert pairs(tmp_path / "x.json", '{"a.png": 3}') == {"a.png": "3"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"labels": [\n  ["a.png", 1],\n]}', r"x:3:1: not JSON: a comma stands before the closing bracket"),
        ('{"a.png": 1,}', r"x:1:\d+: not JSON: a comma stands before the closing bracket"),
        ('{"a.png": }', r"x:1:11: not JSON \(Expecting value\)"),
        ('{"labels": null}', r"x holds null; wanted is"),
        ('["cat", "dog"]', r"x, entry 1: no file name; labels by position are refused"),
        ("[0, 1, 2]", r"labels by position are refused"),
        ('{"a.png": [1, 0, 1]}', r"entry 1: the label is a list \[1, 0, 1\] \(multi-hot\?\)"),
        ('{"a.png": null}', r"entry 1: the label is null; a name or a whole number is wanted"),
        ("cat\ndog\n", r"x:1: one column only \('cat'\); labels by position are refused"),
        ("a.png,cat\nb.png,dog\n", r"x:1: no header: the first line is 'a.png,cat'; wanted is a header line"),
        ("file,Labels\na.png,1\n", r"x:1: no column 'label' .* it has: file, Labels; did you mean 'Labels'\? Rename it to label"),
        ("image_id,Smiling,Male\na.png,1,0\n", r"no column 'label' .* it has: image_id, Smiling, Male"),
        ("file,label\na.png,cat,dog\n", r"x:2: 3 cells, the header has 2"),
        ("file,label\na.png\n", r"x:2: 1 cell, the header has 2"),
        ("file,label\na.png,\n", r"x:2: the label is blank"),
        ("file,label\na.png,1\na.png,2\n", r"a.png is '1' in line 2 and '2' in line 3; keep one"),
        ("file,label\n", r"x holds no labels"),
        ("", r"x holds no labels"),
        ('{"file": "a.png", "label": 1}\n{"file": "b.png", "label": 2', r"x:2:1: not JSON"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_line(tmp_path: Path, text: str, message: str):
    with pytest.raises(DataError, match=message):
        pairs(tmp_path / "x", text)


def test_a_file_that_is_missing_or_not_text_is_named(tmp_path: Path):
    with pytest.raises(DataError, match=r"labels file .*gone\.csv does not exist"):
        read(tmp_path / "gone.csv")
    (tmp_path / "x.csv").write_bytes(b"file,label\n\xff\xfe,1\n")
    with pytest.raises(DataError, match=r"x\.csv is not UTF-8 text .* at byte 11"):
        read(tmp_path / "x.csv")


def test_windows_paths_and_longer_paths_find_their_files(tmp_path: Path):
    text = "file,label\ntrain\\a\\1.png,x\n./b/2.png,y\n/data/set/b/3.png,z\n4.png,w\ngone.png,v\n"
    (tmp_path / "x.csv").write_text(text)
    joined = join(("a/1.png", "b/2.png", "b/3.png", "c/4.png", "5.png"), read(tmp_path / "x.csv"))
    assert joined.labels == {"a/1.png": "x", "b/2.png": "y", "b/3.png": "z", "c/4.png": "w"}
    assert (joined.without_label, joined.without_file) == (("5.png",), ("gone.png",))


def test_a_short_name_that_two_files_have_finds_neither(tmp_path: Path):
    (tmp_path / "x.json").write_text(json.dumps({"1.png": "x"}))
    assert join(("a/1.png", "b/1.png"), read(tmp_path / "x.json")).labels == {}


def test_classes_are_in_the_order_of_numbers_or_of_code_points():
    assert sorted_labels(["10", "9", "1", "9"]) == ("1", "9", "10")
    assert sorted_labels(["10", "9", "b"]) == ("10", "9", "b")
