"""A file of labels, CSV or JSON: (file name, label) pairs. Positions are never trusted, labels are kept as text."""

from __future__ import annotations

import csv
import difflib
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gantrain.data.scan import SUFFIXES
from gantrain.data.words import counted
from gantrain.errors import DataError

FILE_COLUMNS = ("file", "filename", "file_name", "path", "filepath", "image", "image_name", "image_id", "img", "name")
LABEL_COLUMNS = ("label", "class", "class_name", "category", "target", "y")
WANTED = "a header line with a column `file` and a column `label`, such as: file,label"
JSON_FORMS = '{"a.png": "cat", ...}, [{"file": "a.png", "label": "cat"}, ...] or {"labels": [["a.png", "cat"], ...]}'
LARGEST = 512 * 2**20  # bytes


@dataclass(frozen=True)
class Pair:
    """One label. `place` is its line or its number, for messages."""

    name: str
    label: str
    place: str


def read(path: Path) -> tuple[Pair, ...]:
    """All pairs of the file. Raises DataError that names the file, and the line."""
    text = _text(path)
    pairs = tuple(_from_json(path, text) if text.lstrip()[:1] in ("{", "[") else _from_csv(path, text))
    if not pairs:
        raise DataError(f"{path} holds no labels; wanted is {WANTED}, or JSON: {JSON_FORMS}")
    _check_unique(path, pairs)
    return pairs


def _text(path: Path) -> str:
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(
            f"labels file {path} {what}; give a CSV or JSON file, `folders`, or null (paths start at the config file)"
        )
    if path.stat().st_size > LARGEST:
        raise DataError(f"{path} has more than {LARGEST:,} bytes, which is no labels file")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror})") from error


def _check_unique(path: Path, pairs: tuple[Pair, ...]) -> None:
    seen: dict[str, Pair] = {}
    for pair in pairs:
        first = seen.setdefault(normalised(pair.name), pair)
        if first.label != pair.label:
            raise DataError(
                f"{path}: {pair.name} is {first.label!r} in {first.place} and {pair.label!r} in {pair.place}; keep one"
            )


def normalised(name: str) -> str:
    """Forward slashes, no ./ in front."""
    name = name.strip().replace("\\", "/").lstrip("/")
    while name.startswith("./"):
        name = name[2:]
    return name


# ---------------------------------------------------------------- JSON


def _from_json(path: Path, text: str) -> Iterator[Pair]:
    tree = _json_tree(path, text)
    if isinstance(tree, dict) and set(tree) == {"labels"}:
        tree = tree["labels"]
    if isinstance(tree, dict):
        entries: Iterable[Any] = tree.items()
    elif isinstance(tree, list):
        entries = tree
    else:
        raise DataError(f"{path} holds {json.dumps(tree)[:40]}; wanted is {JSON_FORMS}")
    for number, entry in enumerate(entries, 1):
        yield _json_pair(path, entry, f"entry {number}")


def _json_tree(path: Path, text: str) -> Any:
    """The whole text as one value, or each line as one (JSON Lines)."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        with suppress(json.JSONDecodeError):
            return [json.loads(line) for line in lines]
        raise DataError(f"{path}:{error.lineno}:{error.colno}: {_json_problem(text, error)}") from error
    except RecursionError as error:
        raise DataError(f"{path} is nested too deeply; wanted is {JSON_FORMS}") from error


def _json_problem(text: str, error: json.JSONDecodeError) -> str:
    before, here = text[: error.pos].rstrip(), text[error.pos :].lstrip()[:1]
    if "trailing comma" in error.msg or (before.endswith(",") and here in ("}", "]")) or here == ",":
        return "not JSON: a comma stands before the closing bracket; remove it"
    return f"not JSON ({error.msg}); correct it"


def _json_pair(path: Path, entry: Any, place: str) -> Pair:
    if isinstance(entry, dict):
        keys = {str(key).lower(): value for key, value in entry.items()}
        names = [keys[key] for key in FILE_COLUMNS if key in keys]
        labels = [keys[key] for key in LABEL_COLUMNS if key in keys]
        entry = [names[0], labels[0]] if names and labels else None
    if not isinstance(entry, list | tuple):
        raise DataError(
            f"{path}, {place}: no file name; labels by position are refused, because the order of files is not that of a list. "
            f"Wanted is {JSON_FORMS}"
        )
    if len(entry) != 2 or not isinstance(entry[0], str):
        raise DataError(
            f"{path}, {place}: {json.dumps(entry)[:60]} is no pair of a file name and a label; wanted is {JSON_FORMS}"
        )
    return Pair(entry[0], _label(path, entry[1], place), place)


def _label(path: Path, value: Any, place: str) -> str:
    if isinstance(value, list):
        raise DataError(
            f"{path}, {place}: the label is a list {json.dumps(value)[:40]} (multi-hot?), gantrain wants one class per picture; "
            "make one name per combination, or leave labels out"
        )
    if value is None or isinstance(value, dict | bool) or str(value).strip() == "":
        raise DataError(f"{path}, {place}: the label is {json.dumps(value)[:40]}; a name or a whole number is wanted")
    return str(value).strip()


# ---------------------------------------------------------------- CSV


def _from_csv(path: Path, text: str) -> Iterator[Pair]:
    lines = text.splitlines()
    if not text.strip():
        return  # said by the caller
    delimiter = max(",;\t", key=lambda mark: lines[0].count(mark)) if lines else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        header = [cell.strip() for cell in next(reader, [])]
        columns = _columns(path, header)
        for row in reader:
            if any(cell.strip() for cell in row):
                yield _csv_pair(path, row, header, columns, reader.line_num)
    except csv.Error as error:
        raise DataError(f"{path}:{reader.line_num}: not CSV ({error}); correct it") from error


def _csv_pair(path: Path, row: list[str], header: list[str], columns: tuple[int, int], line: int) -> Pair:
    if len(row) != len(header):
        raise DataError(
            f"{path}:{line}: {counted(len(row), 'cell')}, the header has {len(header)}; quote cells that hold the separator"
        )
    name, label = row[columns[0]].strip(), row[columns[1]].strip()
    if not name or not label:
        raise DataError(f"{path}:{line}: the {'label' if name else 'file name'} is blank; fill it in, or remove the line")
    return Pair(name, label, f"line {line}")


def _columns(path: Path, header: list[str]) -> tuple[int, int]:
    """Columns of the file names and of the labels. Case does not matter."""
    if any(cell.lower().endswith(SUFFIXES) for cell in header):
        raise DataError(f"{path}:1: no header: the first line is {','.join(header)[:60]!r}; wanted is {WANTED}")
    if len(header) == 1:
        raise DataError(
            f"{path}:1: one column only ({header[0][:40]!r}); labels by position are refused: files are sorted by name, a "
            f"list rarely is. Wanted is {WANTED}"
        )
    return _column(path, header, FILE_COLUMNS), _column(path, header, LABEL_COLUMNS)


def _column(path: Path, header: list[str], known: tuple[str, ...]) -> int:
    lowered = [cell.lower() for cell in header]
    for name in known:
        if name in lowered:
            return lowered.index(name)
    near = difflib.get_close_matches(known[0], lowered, 1, 0.5)
    hint = f"; did you mean {header[lowered.index(near[0])]!r}? Rename it to {known[0]}" if near else ""
    shown = ", ".join(header[:8]) + (f" and {len(header) - 8} more" if len(header) > 8 else "")
    raise DataError(f"{path}:1: no column {known[0]!r} (or {', '.join(known[1:])}); it has: {shown}{hint}. Wanted is {WANTED}")
