"""Composed YAML nodes -> plain tree with positions: aliases and merge keys written out, duplicates and odd keys refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from yaml.error import Mark

from gantrain.spec import scalars
from gantrain.spec.plain import as_mapping
from gantrain.spec.positions import Positions
from gantrain.spec.problems import Place, Problem, SpecPath, problem_at

MAX_DEPTH = 40  # mappings and lists inside one another
MAX_VALUES = 20_000  # after aliases are written out: a few lines of aliases can mean billions


def place_of(mark: Mark | None, file: str) -> Place:
    """Line and column of a mark of PyYAML, counted from 1."""
    return Place(file, mark.line + 1, mark.column + 1) if mark else Place(file, 1, 1)


class Builder:
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
            builder = Builder(kept)
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
        return place_of(node.start_mark, self.positions.file)
