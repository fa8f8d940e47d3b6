"""Vectors from a CSV file: each column gets a type, numbers are standardised or scaled, and nothing doubtful is let in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gantrain.data.csv_text import Cells, is_number, read
from gantrain.data.file_settings import Csv as Settings
from gantrain.data.labels_join import sorted_labels
from gantrain.data.memory import MemorySource
from gantrain.data.pairing import Pairing, numbered, paired
from gantrain.data.report import Report
from gantrain.data.table import Column, Table
from gantrain.data.words import counted
from gantrain.errors import DataError
from gantrain.interfaces import Range, SourceFacts

PEEKED_BYTES = 2 * 2**20  # files up to this size are read in full by the static check
MOST_DECIMALS = 9
MOST_LEVELS = 1000  # of a category: each becomes a number of the vector
SHOWN = 3
INTEGER = re.compile(r"[+-]?(0|[1-9]\d{0,17})")
LEADING_ZERO = re.compile(r"[+-]?0\d+")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
PLAIN_FLOAT = re.compile(r"[+-]?\d*\.?(\d*)")


def facts(settings: Settings, base_dir: Path) -> SourceFacts:
    """Facts of the `csv` source. Raises DataError."""
    path = _path(settings, base_dir)
    bounded = settings.scale == "minmax"
    if path.stat().st_size <= PEEKED_BYTES:
        source = build(settings, base_dir)
        return _facts_of(source, bounded)
    cells = read(path, most_rows=100)
    wanted = _wanted(cells, settings)
    known = None if settings.label or settings.categories else (len(wanted),)
    return SourceFacts(known, None, None, (f"{path} is large; its rows are counted at the start of fit",), bounded=bounded)


def _facts_of(source: MemorySource, bounded: bool) -> SourceFacts:
    classes, pairing = len(source.class_names) or None, source.pairing
    return SourceFacts(
        source.shape,
        source.length,
        classes,
        bounded=bounded,
        class_names=source.class_names,
        target_size=pairing.size if pairing else None,
        longest_sequence=pairing.longest if pairing else None,
    )


def build(settings: Settings, base_dir: Path) -> MemorySource:
    """Read and check the whole table. Raises DataError with row and column."""
    cells = read(_path(settings, base_dir))
    columns, numbers = _typed(cells, settings)
    labels, classes = _labels(cells, settings)
    place = 0 if settings.label is None else sum(name in cells.header[: cells.header.index(settings.label)] for name in numbers)
    table = Table(columns=columns, label=settings.label, label_place=place, delimiter=cells.delimiter)
    with np.errstate(over="ignore"):  # reported below
        values = np.concatenate([column.forward(numbers[column.name]) for column in columns], axis=1).astype(np.float32)
    if not np.isfinite(values).all():
        raise DataError(
            f"{cells.path}: values are too large for float32 after scaling; write scale: standardise, or rescale them"
        )
    value_range: Range | None = (0.0, 1.0) if settings.scale == "minmax" else None
    if value_range is not None:
        values = np.clip(values, 0, 1)  # rounding to float32 may leave the range by a bit
    report = _report(cells, columns, numbers)
    return MemorySource(values, value_range, labels, classes, report, table, _pairing(cells, settings))


def _path(settings: Settings, base_dir: Path) -> Path:
    path = base_dir / Path(settings.path).expanduser()
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"table {path} {what}; correct data.source.path (relative paths start at the config file's folder)")
    return path


# ---------------------------------------------------------------- types


def _wanted(cells: Cells, settings: Settings) -> list[str]:
    beside = [name for name in (settings.label, *settings.targets, settings.sequence) if name is not None]
    names = list(settings.columns or [name for name in cells.header if name not in beside])
    asked = [*names, *settings.categories, *beside]
    unknown = [name for name in asked if name not in cells.header]
    if unknown:
        raise DataError(f"{cells.path} has no column {unknown[0]!r}; it has: {', '.join(cells.header)}")
    missing = [name for name in settings.categories if name not in names]
    twice = [name for index, name in enumerate([*names, *beside]) if name in [*names, *beside][:index]]
    if missing or twice:
        raise DataError(
            f"column {[*missing, *twice][0]!r}: `categories` must be among `columns`, `label`, `targets` and `sequence` must "
            "not, and each may be named once"
        )
    if not names:
        raise DataError(f"{cells.path}: no column is left for the vector; it has: {', '.join(cells.header)}")
    return names


def _typed(cells: Cells, settings: Settings) -> tuple[tuple[Column, ...], dict[str, np.ndarray]]:
    names = _wanted(cells, settings)
    _check_blanks(cells, names)
    numeric = [name for name in names if name not in settings.categories]
    numbers = {name: _numbers(cells, name) for name in numeric}
    text = [name for name in numeric if numbers[name] is None]
    if text:
        raise DataError(_text_problem(cells, text))
    found = {name: values for name, values in numbers.items() if values is not None}
    _check_finite(cells, found)
    columns = [
        _category(cells, name) if name not in found else _number(cells, name, found[name], settings.scale) for name in names
    ]
    return tuple(columns), {name: found[name] if name in found else np.array(cells.of(name)) for name in names}


def _numbers(cells: Cells, name: str) -> np.ndarray | None:
    """float64 [N], or None for a column of text: one in which most cells are no numbers."""
    column = cells.of(name)
    if any(LEADING_ZERO.fullmatch(cell) for cell in column):
        return None  # a code such as 00501, which a number would not keep
    try:
        values = np.array(column, dtype=np.float64)
        if not any("_" in cell for cell in column):
            return values
    except ValueError:
        pass
    bad = [row for row, cell in enumerate(column) if not is_number(cell)]
    if 2 * len(bad) > len(column) or len(bad) > 1000:
        return None
    raise DataError(
        f"{cells.place(bad[0], name)}: {column[bad[0]]!r} is no number, as in {counted(len(bad), 'row')}; correct it, "
        "or omit the column"
    )


def number_cells(cells: Cells, name: str) -> np.ndarray:
    """A column that must be numbers, [n] float64. Raises DataError for blanks, text, NaN and infinity."""
    _check_blanks(cells, [name])
    values = _numbers(cells, name)
    if values is None:
        raise DataError(f"{cells.path}: column {name!r} holds text where numbers are wanted; name another column, or correct it")
    _check_finite(cells, {name: values})
    return values


def _text_problem(cells: Cells, names: Sequence[str]) -> str:
    shown = [f"{name} ({len(set(cells.of(name))):,} different, such as {cells.of(name)[0]!r})" for name in names[:SHOWN]]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    what = "1 column holds" if len(names) == 1 else f"{len(names)} columns hold"
    comma = any(DECIMAL_COMMA.fullmatch(cells.of(name)[0]) for name in names)
    hint = "; numbers are written with a point, not with a comma" if comma else ""
    return (
        f"{cells.path}: {what} text: {', '.join(shown)}{more}{hint}; name them in data.source.categories (one "
        "number per name), use one as data.source.label, or list the others in data.source.columns"
    )


def _check_blanks(cells: Cells, names: Sequence[str]) -> None:
    blank = [(row, name) for name in names for row, cell in enumerate(cells.of(name)) if not cell]
    if blank:
        row, name = min(blank, key=lambda item: item[0])
        raise DataError(
            f"{cells.place(row, name)} is blank ({counted(len(blank), 'blank cell')} in all); fill it in, "
            "or leave the row or column out"
        )


def _check_finite(cells: Cells, numbers: dict[str, np.ndarray]) -> None:
    bad = [(int(row), name) for name, values in numbers.items() for row in np.flatnonzero(~np.isfinite(values))]
    if bad:
        row, name = min(bad, key=lambda item: item[0])
        raise DataError(
            f"{cells.place(row, name)} is {cells.of(name)[row]} ({counted(len(bad), 'cell')} NaN or infinite); correct it, "
            "or leave the row or column out"
        )


def _category(cells: Cells, name: str) -> Column:
    levels = sorted_labels(cells.of(name))
    if len(levels) > MOST_LEVELS:
        raise DataError(
            f"{cells.path}: category {name!r} has {len(levels):,} different names, more than {MOST_LEVELS}; leave it out"
        )
    return Column(name=name, kind="category", levels=levels)


def _number(cells: Cells, name: str, values: np.ndarray, scale: str | None) -> Column:
    column = cells.of(name)
    integer = all(INTEGER.fullmatch(cell) for cell in column)
    offset, factor = _law(values, scale)
    decimals = None if integer else _decimals(column)
    return Column(name=name, kind="integer" if integer else "float", offset=offset, scale=factor, decimals=decimals)


def _law(values: np.ndarray, scale: str | None) -> tuple[float, float]:
    """(offset, scale) of (v - offset) / scale; a constant column becomes 0."""
    if scale == "standardise":
        return float(values.mean()), float(values.std()) or 1.0
    if scale == "minmax":
        return float(values.min()), float(values.max() - values.min()) or 1.0
    return 0.0, 1.0


def _decimals(column: Sequence[str]) -> int | None:
    found = [PLAIN_FLOAT.fullmatch(cell) for cell in column]
    most = max((len(match[1]) for match in found if match), default=0)
    return most if all(found) and most <= MOST_DECIMALS else None


def _labels(cells: Cells, settings: Settings) -> tuple[np.ndarray | None, tuple[str, ...]]:
    if settings.label is None:
        return None, ()
    _check_blanks(cells, [settings.label])
    column = cells.of(settings.label)
    classes = sorted_labels(column)
    number = {name: index for index, name in enumerate(classes)}
    return np.array([number[cell] for cell in column], np.int64), classes


def _pairing(cells: Cells, settings: Settings) -> Pairing | None:
    """Targets and sequences; numbers as they are."""
    if not settings.targets:
        return None
    named = [*settings.targets, *([settings.sequence] if settings.sequence else [])]
    _check_blanks(cells, named)
    found = {name: number_cells(cells, name) for name in settings.targets}
    ids = numbered(np.array(cells.of(settings.sequence))) if settings.sequence else None
    return paired(np.stack(list(found.values()), axis=1), ids, len(cells.lines), f"columns {', '.join(found)} of {cells.path}")


def _report(cells: Cells, columns: Sequence[Column], numbers: dict[str, np.ndarray]) -> Report:
    def words(column: Column) -> str:
        values = numbers[column.name]
        if column.kind == "category":
            return f"{len(column.levels)} names"
        return f"{values.min():g} to {values.max():g}, mean {values.mean():g}"

    title = f"table {cells.path}: {counted(len(cells.lines), 'row')}, {counted(len(columns), 'column')}"
    lines = tuple(f"  {column.name:<16} {column.kind:<9} {words(column)}" for column in columns[:12])
    more = (f"  and {len(columns) - 12} more columns",) if len(columns) > 12 else ()
    constant = [column.name for column in columns if column.kind != "category" and numbers[column.name].std() == 0]
    warnings = (f"columns with one value only: {', '.join(constant)}; leave them out",) if constant else ()
    tree = {"path": str(cells.path), "rows": len(cells.lines), "columns": [column.model_dump() for column in columns]}
    return Report((title, *lines, *more), warnings, tree)
