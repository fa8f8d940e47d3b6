"""Examples that are never trained on, brought to the units, columns and classes of those that are (free of TensorFlow)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gantrain.data.table import Column, Table
from gantrain.errors import DataError
from gantrain.interfaces import Source

WHERE = "data.held_out"


@dataclass(frozen=True, eq=False)
class HeldOut:
    """`own`, the examples held out, seen as examples of `trained`."""

    own: Source
    trained: Source

    def __post_init__(self) -> None:
        """Raises DataError for examples of another form."""
        own, trained = _table_of(self.own), _table_of(self.trained)
        if (own is None) != (trained is None):
            raise DataError(f"{WHERE} and data.source must both be tables, or neither")
        if own is not None and trained is not None:
            _check_columns(own, trained)
            return
        if tuple(self.own.shape) != tuple(self.trained.shape):
            raise DataError(f"{WHERE} gives examples {list(self.own.shape)}, data.source gives {list(self.trained.shape)}")
        if (self.own.value_range is None) != (self.trained.value_range is None):
            raise DataError(f"{WHERE} has values in {self.own.value_range}, data.source in {self.trained.value_range}")

    @property
    def length(self) -> int:
        """Number of examples."""
        return self.own.length

    def load(self, indices: np.ndarray) -> np.ndarray:
        """Examples [n,*shape] in the units of `trained`. Raises DataError."""
        values, table = self.own.load(indices), _table_of(self.trained)
        if table is not None:
            return _retabled(values, _table_of(self.own), table)
        span, wanted = self.own.value_range, self.trained.value_range
        if span is None or wanted is None or span == wanted:
            return values
        return wanted[0] + (values.astype(np.float32) - span[0]) * ((wanted[1] - wanted[0]) / (span[1] - span[0]))

    def labels(self, indices: np.ndarray) -> np.ndarray:
        """Their classes by the numbers of `trained`, [n] int64. Raises DataError for missing labels and a strange class."""
        names = list(self.trained.class_names)
        strange = [name for name in self.own.class_names if name not in names]
        if self.own.labels is None or strange:
            what = f"the class {strange[0]!r}, which data.source has not" if strange else "no labels, which this decoder reads"
            raise DataError(f"{WHERE} has {what}")
        numbers = np.array([names.index(name) for name in self.own.class_names], np.int64)
        return numbers[self.own.labels[indices]]


def _table_of(source: Source) -> Table | None:
    table: Any = getattr(source, "table", None)
    return table if isinstance(table, Table) else None


def _retabled(values: np.ndarray, own: Table | None, wanted: Table) -> np.ndarray:
    """Vectors of one table as vectors of another: through the cells of the columns that both name."""
    assert own is not None
    cells = own.inverse(values)
    return np.concatenate([column.forward(cells[column.name]) for column in wanted.columns], axis=1).astype(np.float32)


def _check_columns(own: Table, wanted: Table) -> None:
    found = {column.name: column for column in own.columns}
    for column in wanted.columns:
        if column.name not in found:
            raise DataError(f"{WHERE} has no column {column.name!r}, which data.source has; it has: {', '.join(found)}")
        _check_kind(found[column.name], column)


def _check_kind(own: Column, wanted: Column) -> None:
    if (own.kind == "category") != (wanted.kind == "category"):
        raise DataError(
            f"column {own.name!r} is a category in only one of {WHERE} and data.source; name it in both or in neither"
        )
    strange = [level for level in own.levels if level not in wanted.levels]
    if strange:
        raise DataError(f"column {own.name!r} of {WHERE} has {strange[0]!r}, which data.source has not")
