"""Examples held out are seen as examples of the training data: its units, columns, categories and class numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gantrain.data import csv_table
from gantrain.data.file_settings import Csv
from gantrain.data.held_out import HeldOut
from gantrain.data.memory import MemorySource
from gantrain.errors import DataError

EVERY = np.arange(3)


def pictures(value_range=(0.0, 1.0), names=(), shape=(4, 4, 1)):
    values = np.linspace(*(value_range or (0, 1)), 3 * int(np.prod(shape)), dtype=np.float32).reshape(3, *shape)
    return MemorySource(values, value_range, np.arange(3) % len(names) if names else None, names)


def table(folder: Path, name: str, text: str):
    (folder / name).write_text(text)
    return csv_table.build(Csv(path=name, categories=("c",)), folder)


def test_values_of_another_range_come_in_the_units_of_the_training_data():
    held = HeldOut(pictures((0.0, 1.0)), pictures((-2.0, 6.0)))
    np.testing.assert_allclose(held.load(EVERY), pictures((-2.0, 6.0)).load(EVERY), atol=1e-6)
    assert held.length == 3


def test_classes_have_the_numbers_of_the_training_data():
    held = HeldOut(pictures(names=("boot", "coat")), pictures(names=("bag", "coat", "boot")))
    assert held.labels(EVERY).tolist() == [2, 1, 2]


@pytest.mark.parametrize(("names", "said"), [(("boot", "hat"), "the class 'hat'"), ((), "no labels")])
def test_a_class_that_was_not_there_in_training_is_refused(names, said):
    with pytest.raises(DataError, match=said):
        HeldOut(pictures(names=names), pictures(names=("bag", "boot"))).labels(EVERY)


@pytest.mark.parametrize(("other", "said"), [(pictures(shape=(8, 4, 1)), r"\[8, 4, 1\]"), (pictures(None), "has values in None")])
def test_examples_of_another_form_are_refused(other, said):
    with pytest.raises(DataError, match=said):
        HeldOut(other, pictures())


def test_a_table_is_scaled_by_the_columns_of_the_training_table(tmp_path):
    trained = table(tmp_path, "a.csv", "x,c,n\n0.5,no,1\n2.25,yes,5\n4.75,no,9\n")
    same_rows = table(
        tmp_path, "b.csv", "c,n,x,more\nyes,5,2.25,1\nyes,5,2.25,2\n"
    )  # another order, mean, width and set of names
    held = HeldOut(same_rows, trained).load(np.arange(2))
    np.testing.assert_allclose(held, trained.load(np.array([1, 1])), atol=1e-6)


@pytest.mark.parametrize(
    ("text", "said"),
    [("x,c\n1,no\n2,yes\n", "no column 'n'"), ("x,c,n\n1,no,2\n2,maybe,3\n", "'maybe', which data.source has not")],
)
def test_a_table_without_a_column_or_with_a_strange_name_is_refused(tmp_path, text, said):
    trained = table(tmp_path, "a.csv", "x,c,n\n0.5,no,1\n2.25,yes,5\n4.75,no,9\n")
    with pytest.raises(DataError, match=said):
        HeldOut(table(tmp_path, "b.csv", text), trained)


def test_a_table_and_arrays_do_not_go_together(tmp_path):
    with pytest.raises(DataError, match="both be tables"):
        HeldOut(pictures(shape=(4,)), table(tmp_path, "a.csv", "x,c\n0.5,no\n2.25,yes\n"))
