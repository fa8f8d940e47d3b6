"""How the columns of a table became the numbers of a vector, and the way back (free of TensorFlow).

It is stored in each checkpoint, so that samples come back with the same columns and types.
"""

from __future__ import annotations

import csv
import io
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

Kind = Literal["float", "integer", "category"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Column(_Part):
    """One column. A number v is stored as (v - offset) / scale; a category as one 0/1 number per level."""

    name: str
    kind: Kind
    offset: float = 0.0
    scale: float = 1.0
    decimals: int | None = None  # most decimals of a float in the file; null: as many as there are
    levels: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Numbers of the vector."""
        return len(self.levels) if self.kind == "category" else 1

    def forward(self, cells: np.ndarray) -> np.ndarray:
        """Numbers [n] float64, or text [n] of a category -> [n,width] float64."""
        if self.kind == "category":
            return (cells[:, None] == np.array(self.levels)[None, :]).astype(np.float64)
        return ((cells - self.offset) / self.scale)[:, None]

    def inverse(self, values: np.ndarray) -> np.ndarray:
        """[n,width] -> int64, float64 or text [n]. A category is the level of the largest number."""
        if self.kind == "category":
            return np.array(self.levels)[values.argmax(axis=1)]
        numbers = values[:, 0].astype(np.float64) * self.scale + self.offset
        if self.kind == "integer":
            return np.rint(numbers).astype(np.int64)
        return numbers if self.decimals is None else np.round(numbers, self.decimals)


class Table(_Part):
    """The columns of the vector, in order, and the column of the label with its place among them."""

    columns: tuple[Column, ...]
    label: str | None = None
    label_place: int = 0
    delimiter: str = ","

    @property
    def width(self) -> int:
        """Length of the vector."""
        return sum(column.width for column in self.columns)

    def inverse(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Vectors [n,width] in source units -> name -> cells [n]."""
        ends = np.cumsum([column.width for column in self.columns])
        parts = np.split(values, ends[:-1], axis=1)
        return {column.name: column.inverse(part) for column, part in zip(self.columns, parts, strict=True)}

    def to_csv(self, values: np.ndarray, labels: list[str] | None) -> str:
        """Text of a CSV file with a header; `labels` [n] stand in the place that their column had."""
        cells = {name: _texts(column) for name, column in self.inverse(values).items()}
        names = list(cells)
        if labels is not None and self.label is not None:
            names.insert(self.label_place, self.label)
            cells[self.label] = labels
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer, delimiter=self.delimiter, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(zip(*(cells[name] for name in names), strict=True))
        return buffer.getvalue()


def _texts(cells: np.ndarray) -> list[str]:
    if cells.dtype.kind == "f":
        return [repr(float(cell)) if cell == 0 or 1e-4 <= abs(cell) < 1e16 else f"{float(cell):.9g}" for cell in cells]
    return [str(cell) for cell in cells]
