"""YAML text -> plain tree with positions.

Safe against hostile files: bounded size, depth and number of values, no tags that run code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.error import Mark, MarkedYAMLError
from yaml.reader import ReaderError

from gantrain.errors import UsageError
from gantrain.spec import scalars
from gantrain.spec.plain import as_mapping
from gantrain.spec.positions import Positions
from gantrain.spec.problems import Place, Problem, SpecError, SpecPath, problem_at

MAX_BYTES = 1_000_000  # of a file
MAX_DEPTH = 40  # mappings and lists inside one another
MAX_VALUES = 20_000  # after aliases are written out: a few lines of aliases can mean billions


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
    return loader.get_mark()


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
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}; give the path of a YAML file") from None
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES:,} bytes; a config is a short YAML file")
    return _decoded(data, str(path))


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
    builder = _Builder(positions)
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
    "but found another document": "a second document starts here; a spec is one document, remove the '---'",
}


def _syntax_problem(error: yaml.YAMLError, text: str, file: str) -> Problem:
    mark: Mark | None = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if isinstance(error, ReaderError):
        message = f"the character number {error.character} is not allowed; the file may be binary"
        return problem_at(_place_of_offset(text[: error.position], file), "yaml-syntax", message)
    words = str(getattr(error, "problem", None) or "this is not YAML")
    context = getattr(error, "context", None)
    message = _PLAIN_WORDS.get(words) or (f"{words} ({context})" if context else words)
    return problem_at(_place(mark, file), "yaml-syntax", message)


def _place(mark: Mark | None, file: str) -> Place:
    return Place(file, mark.line + 1, mark.column + 1) if mark else Place(file, 1, 1)


def _place_of_offset(before: str, file: str) -> Place:
    return Place(file, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


# ---------------------------------------------------------------- nodes -> tree


class _Builder:
    """Writes out one composed document; aliases and merge keys are resolved, problems collected."""

    def __init__(self, positions: Positions) -> None:
        self.positions = positions
        self.problems: list[Problem] = []
        self.count = 0
        self.open_nodes: list[yaml.Node] = []  # from the root to here: an alias to one of them is a loop

    def build(self, node: yaml.Node, path: SpecPath) -> Any:
        """Plain value of `node`, which stands at `path`."""
        self.positions.values[path] = self._place(node)
        self.count += 1
        if self.count > MAX_VALUES or node in self.open_nodes or len(self.open_nodes) > 2 * MAX_DEPTH:
            return self._refuse_alias(node, path)
        self.open_nodes.append(node)
        value = self._value(node, path)
        self.open_nodes.pop()
        return value

    def _value(self, node: yaml.Node, path: SpecPath) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        expected = scalars.PREFIX + ("map" if isinstance(node, yaml.MappingNode) else "seq")
        if node.tag != expected:
            self._add(node, "yaml-syntax", f"the tag {node.tag} is not allowed; write the value without a tag", path)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]

    def _scalar(self, node: yaml.ScalarNode, path: SpecPath) -> Any:
        try:
            return scalars.scalar_value(node.tag, node.value)
        except ValueError as error:
            self._add(node, "yaml-syntax", str(error), path)
            return None

    def _mapping(self, node: yaml.MappingNode, path: SpecPath) -> dict[str, Any]:
        first: dict[str, Place] = {}
        result: dict[str, Any] = {}
        merged: list[yaml.Node] = []
        for key_node, value_node in node.value:
            key = self._key(key_node, path)
            if key is None or self._is_repeated(key_node, key, first, path):
                continue
            if key_node.tag == scalars.MERGE:
                merged.append(value_node)
            else:
                self.positions.keys[(*path, key)] = self._place(key_node)
                result[key] = self.build(value_node, (*path, key))
        for value_node in merged:
            self._merge(value_node, path, result)
        return result

    def _key(self, node: yaml.Node, path: SpecPath) -> str | None:
        if isinstance(node, yaml.ScalarNode) and node.tag in (scalars.STRING, scalars.MERGE):
            return str(self._scalar(node, path))
        shown = repr(node.value) if isinstance(node, yaml.ScalarNode) else "a list or mapping"
        self._add(node, "wrong-type", f"a key must be text, not {shown}; put it in quotes if you mean it", path)
        return None

    def _is_repeated(self, node: yaml.Node, key: str, first: dict[str, Place], path: SpecPath) -> bool:
        place = self._place(node)
        if key not in first:
            first[key] = place
            return False
        self._add(node, "duplicate-key", f"{key} is written twice; the first is at {first[key]}; keep one of them", (*path, key))
        return True

    def _merge(self, node: yaml.Node, path: SpecPath, result: dict[str, Any]) -> None:
        """`<<: *base` or `<<: [*a, *b]`: keys of the mapping itself, and earlier bases, win."""
        for base in self._bases(node, path):
            kept = Positions(self.positions.file)
            builder = _Builder(kept)
            builder.count, builder.open_nodes = self.count, self.open_nodes
            tree = builder.build(base, path)
            self.count = builder.count
            self.problems += builder.problems
            for key, value in (as_mapping(tree) or {}).items():
                if key not in result:
                    result[key] = value
                    self._adopt(kept, (*path, key))

    def _bases(self, node: yaml.Node, path: SpecPath) -> Iterator[yaml.Node]:
        for base in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if isinstance(base, yaml.MappingNode):
                yield base
            else:
                self._add(base, "yaml-syntax", "<< takes an alias of a mapping, such as <<: *base", path)

    def _adopt(self, other: Positions, path: SpecPath) -> None:
        for mine, theirs in ((self.positions.values, other.values), (self.positions.keys, other.keys)):
            mine.update({known: place for known, place in theirs.items() if known[: len(path)] == path})

    def _refuse_alias(self, node: yaml.Node, path: SpecPath) -> None:
        what = (
            "this alias refers to itself" if node in self.open_nodes else f"more than {MAX_VALUES:,} values, or aliases too deep"
        )
        message = f"{what}; write the values out"
        if not any(problem.message == message for problem in self.problems):
            self._add(node, "yaml-syntax", message, path)

    def _add(self, node: yaml.Node, rule: str, message: str, path: SpecPath) -> None:
        self.problems.append(problem_at(self._place(node), rule, message, path))

    def _place(self, node: yaml.Node) -> Place:
        return _place(node.start_mark, self.positions.file)
