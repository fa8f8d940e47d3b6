"""A CSV file as text, column by column, with its line numbers."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gantrain.data.room import check_fits, check_regular
from gantrain.data.words import counted
from gantrain.errors import DataError

MOST_CHARACTERS = 16_000_000  # of a line
CELL_COST = 8  # bytes of memory for one of the file, as Python's text


@dataclass(frozen=True)
class Cells:
    """The file as text, column by column: `columns` [C][N]; `lines` [N] are line numbers in the file."""

    path: Path
    header: tuple[str, ...]
    columns: list[list[str]]
    lines: list[int]
    delimiter: str

    def of(self, name: str) -> list[str]:
        """Cells of one column."""
        return self.columns[self.header.index(name)]

    def place(self, row: int, name: str) -> str:
        """For messages."""
        return f"{self.path}:{self.lines[row]} (row {row + 1}), column {name!r}"


def read(path: Path, most_rows: int | None = None) -> Cells:
    """The file, or its first rows. Raises DataError that names the line."""
    check_regular(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if most_rows is None:
                check_fits(CELL_COST * path.stat().st_size, f"table {path}", "save its numbers with numpy.save")
            first = next(_lines(path, file), "")
            file.seek(0)
            delimiter = max(",;\t", key=first.count)
            rows = list(_rows(path, csv.reader(_lines(path, file), delimiter=delimiter, strict=True), most_rows))
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error.reason}); save it as UTF-8") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror})") from error
    if len(rows) < 2:
        raise DataError(f"{path} holds {'a header and no rows' if rows else 'nothing'}; a header line and rows are wanted")
    header = tuple(cell.strip() for cell in rows[0][1])
    _check_header(path, header)
    columns = [list(map(str.strip, column)) for column in zip(*(row for _, row in rows[1:]), strict=True)]
    return Cells(path, header, columns, [line for line, _ in rows[1:]], delimiter)


def _lines(path: Path, file: TextIO) -> Iterator[str]:
    """Lines of the file, none of which may fill the memory."""
    while line := file.readline(MOST_CHARACTERS + 1):
        if len(line) > MOST_CHARACTERS:
            raise DataError(f"{path} has a line of more than {MOST_CHARACTERS:,} characters: it is no table")
        yield line


def _rows(path: Path, reader: Iterator[list[str]], most: int | None) -> Iterator[tuple[int, list[str]]]:
    width, count = 0, 0
    try:
        for row in reader:
            line: int = reader.line_num  # pyright: ignore[reportAttributeAccessIssue]
            if not row:
                continue
            width = width or len(row)
            if len(row) != width:
                raise DataError(
                    f"{path}:{line}: {counted(len(row), 'cell')}, the header has {width}; quote cells that hold the separator"
                )
            yield line, row
            count += 1
            if most is not None and count > most:
                return
    except csv.Error as error:
        line = reader.line_num  # pyright: ignore[reportAttributeAccessIssue]
        raise DataError(f"{path}:{line}: not CSV ({error}); correct it") from error


def _check_header(path: Path, header: tuple[str, ...]) -> None:
    numeric = [cell for cell in header if is_number(cell)]
    if numeric:
        raise DataError(
            f"{path}:1: no header: the first line holds the number {numeric[0]}; write the names of the columns above it"
        )
    twice = [name for index, name in enumerate(header) if name in header[:index]]
    if twice or "" in header:
        raise DataError(
            f"{path}:1: column name {twice[0] if twice else ''!r} is {'there twice' if twice else 'blank'}; name each column once"
        )


def is_number(text: str) -> bool:
    """Whether Python reads a float from it; not 1_000, which Python alone takes for a number."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
