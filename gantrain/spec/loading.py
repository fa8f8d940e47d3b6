"""YAML text -> plain tree with positions.

Safe against hostile files: bounded size, depth and number of values, no tags that run code.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.error import Mark, MarkedYAMLError
from yaml.reader import ReaderError

from gantrain.errors import UsageError
from gantrain.spec import scalars
from gantrain.spec.building import MAX_DEPTH, MAX_VALUES, Builder, place_of
from gantrain.spec.positions import Positions
from gantrain.spec.problems import Place, Problem, SpecError, problem_at

MAX_BYTES = 1_000_000  # of a file
PIPE_SEC = 10.0  # in which a pipe must say everything


class _Loader(yaml.SafeLoader):
    """SafeLoader with YAML 1.2 scalars that stops at MAX_DEPTH instead of exhausting Python's stack."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  PyYAML copies it per class
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """As PyYAML's, counted."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise MarkedYAMLError(None, None, f"nested deeper than {MAX_DEPTH} levels", _mark_of(self))
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _mark_of(loader: Any) -> Mark:
    return loader.peek_event().start_mark


scalars.add_resolvers(_Loader)


@dataclass
class LoadedTree:
    """`tree`: mappings with text keys, lists and scalars. `problems` holds what had to be left out of it."""

    tree: Any
    positions: Positions
    problems: list[Problem]


def read_text(path: Path) -> str:
    """Text of a UTF-8 file, with or without a byte order mark. Raises UsageError (cannot be read) or SpecError (not UTF-8)."""
    try:
        data = _from_pipe(path) if path.is_fifo() else _from_file(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}; give the path of a YAML file") from None
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES:,} bytes; a config is a short YAML file")
    return _decoded(data, str(path))


def _from_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _from_pipe(path: Path) -> bytes:
    """What comes through a pipe, such as a shell's `<(command)`; one into which nobody writes is an error."""
    handle, data, deadline = os.open(path, os.O_RDONLY | os.O_NONBLOCK), b"", time.monotonic() + PIPE_SEC
    try:
        while len(data) <= MAX_BYTES and time.monotonic() < deadline:
            part = _available(handle)
            if data and part == b"":
                return data
            data += part or b""
            if not part:
                time.sleep(0.02)
    finally:
        os.close(handle)
    if len(data) > MAX_BYTES:
        return data
    raise UsageError(f"nothing more came through the pipe {path} for {PIPE_SEC:.0f} s; give the path of a YAML file")


def _available(handle: int) -> bytes | None:
    """What is in a pipe now; nothing at its end, None while more may come."""
    try:
        return os.read(handle, 1 << 16)
    except BlockingIOError:
        return None


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place_of_offset(data[: error.start].decode("utf-8", "replace"), file)
        raise SpecError([problem_at(place, "yaml-syntax", "this is not UTF-8 text; save the file as UTF-8")]) from None


def load_text(text: str, file: str) -> LoadedTree:
    """Parse one YAML document. Never raises for any text: what is wrong is in `problems`, with positions."""
    positions = Positions(file)
    try:
        node = _composed(text)
    except yaml.YAMLError as error:
        return LoadedTree({}, positions, [_syntax_problem(error, text, file)])
    except (ValueError, OverflowError):  # PyYAML lets chr() of an impossible \U escape through
        place = _place_of_offset(text[: max(0, text.find("\\U"))], file)
        return LoadedTree(
            {}, positions, [problem_at(place, "yaml-syntax", "there is no character with the number of this \\U escape")]
        )
    if node is None:
        return LoadedTree(
            {}, positions, [problem_at(Place(file, 1, 1), "yaml-syntax", "the file is empty; a spec needs at least data")]
        )
    builder = Builder(positions)
    tree = builder.build(node, ())
    return LoadedTree(tree if builder.count <= MAX_VALUES else {}, positions, builder.problems)


def _composed(text: str) -> yaml.Node | None:
    loader: Any = _Loader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


# ---------------------------------------------------------------- syntax errors

_PLAIN_WORDS = {
    "found character '\\t' that cannot start any token": "a tab is used for indentation; use spaces",
    "mapping values are not allowed here": "a colon is not allowed here; check the indentation, or put text with ': ' in quotes",
    "could not find expected ':'": "the line before this is no `key: value`; write a colon and a space after its key",
    "but found another document": "a second document starts here; a spec is one document, remove the '---'",
}


def _syntax_problem(error: yaml.YAMLError, text: str, file: str) -> Problem:
    mark: Mark | None = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if isinstance(error, ReaderError):
        message = f"the character number {error.character} is not allowed; the file may be binary"
        return problem_at(_place_of_offset(text[: error.position], file), "yaml-syntax", message)
    words = str(getattr(error, "problem", None) or "this is not YAML")
    context = getattr(error, "context", None)
    return problem_at(place_of(mark, file), "yaml-syntax", _PLAIN_WORDS.get(words) or _in_plain_words(words, context, error))


def _in_plain_words(words: str, context: str | None, error: yaml.YAMLError) -> str:
    """Messages of the parser that name something, or whose cause lies at the place where something was opened."""
    start: Mark | None = getattr(error, "context_mark", None)
    opened = f" that was opened in line {start.line + 1}" if start else ""
    if words.startswith("found undefined alias"):
        alias = words.rpartition(" ")[2].strip("'")
        return f"*{alias} refers to &{alias}, which is defined nowhere above; define it, or put text that starts with * in quotes"
    if words.startswith("expected ',' or"):
        bracket = words.split("'")[3]
        return f"a comma or '{bracket}' is missing before this: the bracket{opened} is not closed"
    if words.startswith("expected <block end>"):
        return f"the indentation differs from that of the lines beside it (the block{opened}); give all keys of a block the same"
    return f"{words} ({context})" if context else words


def _place_of_offset(before: str, file: str) -> Place:
    return Place(file, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
