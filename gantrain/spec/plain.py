"""Typed views of a plain tree (mappings with text keys, lists, scalars), whose values can be anything."""

from __future__ import annotations

from typing import Any, cast

from gantrain.spec.problems import SpecPath


def as_mapping(value: Any) -> dict[str, Any] | None:
    """The value if it is a mapping."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_list(value: Any) -> list[Any] | None:
    """The value if it is a list."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def item(value: Any, part: str | int) -> Any:
    """`value[part]`, or None where there is no such key or position."""
    try:
        return value[part]
    except (KeyError, IndexError, TypeError):
        return None


def put(container: Any, part: str | int, value: Any) -> None:
    """`container[part] = value`; the position after the end of a list appends."""
    items = as_list(container)
    if items is not None and part == len(items):
        items.append(value)
    else:
        container[part] = value


def at_path(tree: Any, path: SpecPath) -> Any:
    """The value at a path, or None."""
    for part in path:
        tree = item(tree, part)
    return tree
