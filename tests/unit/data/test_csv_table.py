"""Tables: types of columns, the way there and back, and what is refused with row and column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gantrain.data import csv_table as module
from gantrain.data.csv_table import build
from gantrain.data.file_settings import Csv
from gantrain.data.memory import MemorySource
from gantrain.errors import DataError

TEXT = "age,height,city,class\n30,1.75,Rome,x\n41,1.60,Oslo,y\n25,1.855,Rome,x\n30,2.00,Bern,x\n"


def opened(folder: Path, text: str, **settings) -> MemorySource:
    (folder / "t.csv").write_text(text, encoding="utf-8")
    return build(Csv(path="t.csv", **settings), folder)


def test_columns_are_standardised_and_labels_are_no_part_of_the_vector(tmp_path: Path):
    source = opened(tmp_path, TEXT, columns=("height", "age"), label="class")
    assert (source.shape, source.value_range, source.class_names) == ((2,), None, ("x", "y"))
    assert source.labels.tolist() == [0, 1, 0, 0]
    ages = np.array([30, 41, 25, 30])
    assert np.allclose(source.in_memory[:, 1], (ages - ages.mean()) / ages.std(), rtol=0, atol=1e-6)


def test_minmax_gives_0_to_1_with_both_ends_reached(tmp_path: Path):
    source = opened(tmp_path, TEXT, columns=("age",), scale="minmax")
    assert source.value_range == (0, 1)
    assert source.in_memory[:, 0].tolist() == [np.float32(5 / 16), 1, 0, np.float32(5 / 16)]


@pytest.mark.parametrize("scale", ["standardise", "minmax", None])
def test_real_rows_come_back_as_the_text_they_were(tmp_path: Path, scale: str | None):
    source = opened(tmp_path, TEXT, categories=("city",), label="class", scale=scale)
    assert source.shape == (5,)  # age, height, three cities
    names = [source.class_names[label] for label in source.labels]
    expected = TEXT.replace("1.60", "1.6").replace("2.00", "2.0")
    assert source.table.to_csv(source.in_memory, names) == expected
    assert source.table.to_csv(source.in_memory, None).startswith("age,height,city\n30,1.75,Rome\n")


def test_large_integers_and_full_floats_come_back_to_float32_precision(tmp_path: Path):
    rng = np.random.default_rng(0)
    values, counts = rng.normal(5, 1e-3, 50), rng.integers(10**6, 10**6 + 1000, 50)
    text = "a,b\n" + "\n".join(f"{value!r},{count}" for value, count in zip(values.tolist(), counts.tolist(), strict=True))
    source = opened(tmp_path, text)
    back = source.table.inverse(source.in_memory)
    assert (back["b"] == counts).all()
    assert back["b"].dtype == np.int64
    assert np.abs(back["a"] - values).max() < 1e-3 * 1e-6  # a millionth of the column's spread
    assert source.table.columns[0].decimals is None


def test_generated_categories_are_the_most_likely_name(tmp_path: Path):
    table = opened(tmp_path, TEXT, columns=("city",), categories=("city",)).table
    assert table.columns[0].levels == ("Bern", "Oslo", "Rome")
    assert table.inverse(np.array([[0.1, 0.2, 0.15], [0.9, -3, 0.8]]))["city"].tolist() == ["Oslo", "Bern"]


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("a,b\n1,2\n3,\n", {}, r"t\.csv:3 \(row 2\), column 'b' is blank \(1 blank cell in all\)"),
        ("a,b\n1,2\n\ninf,4\n", {}, r"t\.csv:4 \(row 2\), column 'a' is inf \(1 cell NaN or infinite\)"),
        ("a,b\n1,nan\n3,4\n", {}, r"t\.csv:2 \(row 1\), column 'b' is nan"),
        ("a,b\n1,2\n3,x\n5,6\n", {}, r"t\.csv:3 \(row 2\), column 'b': 'x' is no number, as in 1 row;"),
        (TEXT, {}, r"2 columns hold text: city \(3 different, such as 'Rome'\), class .*data\.source\.categories"),
        ("zip\n00501\n10001\n", {}, r"1 column holds text: zip"),
        ("a\n1_000\n2_000\n", {}, r"1 column holds text: a"),
        ("a,b\n1,1_0\n2,3\n4,5\n", {}, r"column 'b': '1_0' is no number, as in 1 row"),
        ('a;b\n"1,5";2\n"2,5";3\n', {}, r"numbers are written with a point, not with a comma; name them"),
        ("1,2\n3,4\n", {}, r"t\.csv:1: no header: the first line holds the number 1"),
        ("a,a\n1,2\n", {}, r"column name 'a' is there twice"),
        ("a,b\n1,2,3\n", {}, r"t\.csv:2: 3 cells, the header has 2"),
        ("a,b\n", {}, r"t\.csv holds a header and no rows"),
        ("", {}, r"t\.csv holds nothing"),
        (TEXT, {"label": "klass"}, r"has no column 'klass'; it has: age, height, city, class"),
        (TEXT, {"columns": ("age",), "categories": ("city",)}, r"column 'city': `categories` must be among `columns`"),
        ("a\n1e300\n-1e300\n", {"scale": None}, r"values are too large for float32"),
        ('a\n"1\n', {}, r"t\.csv:\d: not CSV"),
    ],
)
def test_what_cannot_be_used_is_refused_with_row_and_column(tmp_path: Path, text: str, settings: dict, message: str):
    with pytest.raises(DataError, match=message):
        opened(tmp_path, text, **settings)


def test_a_column_with_one_value_becomes_0_and_is_warned_about(tmp_path: Path):
    source = opened(tmp_path, "a,b\n7,1\n7,2\n")
    assert source.in_memory[:, 0].tolist() == [0, 0]
    assert source.report.warnings == ("columns with one value only: a; leave them out",)
    assert source.table.inverse(source.in_memory)["a"].tolist() == [7, 7]


def test_semicolons_tabs_and_a_byte_order_mark_are_read(tmp_path: Path):
    for text in ("\ufeffa;b\r\n1;2\r\n3;4\r\n", "a\tb\n1\t2\n3\t4\n"):
        source = opened(tmp_path, text, scale=None)
        assert source.in_memory.tolist() == [[1, 2], [3, 4]]
    assert source.table.to_csv(source.in_memory, None) == "a\tb\n1\t2\n3\t4\n"


def test_of_a_large_file_peek_reads_the_first_lines_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PEEKED_BYTES", 10)
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 500)
    facts = Csv(path="t.csv").peek(tmp_path)
    assert (facts.shape, facts.length, facts.bounded) == ((2,), None, False)
    assert "counted at the start of fit" in facts.notes[0]


def test_the_report_shows_each_column(tmp_path: Path):
    report = opened(tmp_path, TEXT, categories=("city",), label="class").report
    assert report.lines[0].endswith("t.csv: 4 rows, 3 columns")
    assert report.lines[1].split() == ["age", "integer", "25", "to", "41,", "mean", "31.5"]
    assert report.lines[3].split() == ["city", "category", "3", "names"]
