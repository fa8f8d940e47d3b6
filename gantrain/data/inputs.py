"""A file of inputs for a trained network: npy, npz or csv, in the form of the data it was trained on (free of TensorFlow)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gantrain.data import headers
from gantrain.data.catalog import Arrays
from gantrain.data.csv_table import number_cells
from gantrain.data.csv_text import Cells, read
from gantrain.data.file_settings import Csv
from gantrain.data.headers import NPY_MAGIC, ZIP_MAGIC
from gantrain.data.pairing import numbered
from gantrain.data.table import Table
from gantrain.errors import DataError
from gantrain.interfaces import SourceSettings

USUAL_KEY = "inputs"  # of the array in an npz, where none is named


@dataclass(frozen=True, eq=False)
class Inputs:
    """`values` [n,*shape] in the units of the source; `sequences` [n] int64, or None: all are one sequence."""

    values: np.ndarray
    sequences: np.ndarray | None


def read_inputs(path: Path, source: SourceSettings, shape: tuple[int, ...], table: Table | None) -> Inputs:
    """Inputs from a file, for a network trained on examples of `shape` from `source` (with a `table`, if that was csv).

    The columns, or the arrays in an npz, have the names they had there. Raises DataError.
    """
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"inputs {path} {what}; give a .npy, .npz or .csv file")
    with headers.readable(path), path.open("rb") as file:
        is_array = file.read(6).startswith((NPY_MAGIC, ZIP_MAGIC))
    if is_array:
        return _from_arrays(path, source if isinstance(source, Arrays) else None, shape)
    if table is None:
        raise DataError(
            f"{path} is neither a .npy nor a .npz file, and the data of this run was no table; write it with numpy.save"
        )
    return _from_table(path, table, source.sequence if isinstance(source, Csv) else None)


def _from_arrays(path: Path, settings: Arrays | None, shape: tuple[int, ...]) -> Inputs:
    names = headers.names_in(path)
    asked = [settings.key if settings else None, USUAL_KEY]
    found_key = next((key for key in asked if key in names), None)
    if found_key is None and len(names) > 1:
        raise DataError(f"{path} holds the arrays {', '.join(names)}; name that of the inputs {asked[0] or USUAL_KEY!r}")
    header = headers.read(path, found_key)
    headers.refuse_pickles(header)
    found = header.example_shape()
    if header.dtype.kind not in "uif" or found != shape or header.shape[0] == 0:
        raise DataError(f"{header.place} is {header.dtype} {header.shape}; this network takes {_form(shape)}")
    with np.errstate(over="ignore"):  # reported below
        values = np.asarray(headers.load(header), np.float32).reshape(-1, *shape)
    _check_finite(values, header.place)
    key = settings.sequence_key if settings else None
    return Inputs(values, headers.read_ids(path, key, len(values)) if key in names else None)


def _from_table(path: Path, table: Table, sequence: str | None) -> Inputs:
    cells = read(path)
    missing = [column.name for column in table.columns if column.name not in cells.header]
    if missing:
        raise DataError(f"{path} has no column {missing[0]!r}, which this network takes; it has: {', '.join(cells.header)}")
    parts = [column.forward(_cells_of(cells, column.name, column.levels)) for column in table.columns]
    with np.errstate(over="ignore"):  # reported below
        values = np.concatenate(parts, axis=1).astype(np.float32)
    _check_finite(values, str(path))
    return Inputs(values, numbered(np.array(cells.of(sequence))) if sequence in cells.header else None)


def _cells_of(cells: Cells, name: str, levels: tuple[str, ...]) -> np.ndarray:
    """A column as `Column.forward` takes it."""
    if not levels:
        return number_cells(cells, name)
    strange = [(row, cell) for row, cell in enumerate(cells.of(name)) if cell not in levels]
    if strange:
        row, cell = strange[0]
        raise DataError(f"{cells.place(row, name)}: {cell!r} was not there in training; known are: {', '.join(levels)}")
    return np.array(cells.of(name))


def _check_finite(values: np.ndarray, place: str) -> None:
    bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
    if len(bad):
        raise DataError(
            f"{place} holds values that are NaN, infinite or too large for float32 in {len(bad):,} examples, first in {bad[0]}"
        )


def _form(shape: tuple[int, ...]) -> str:
    return f"numbers [n, {', '.join(map(str, shape))}]"
