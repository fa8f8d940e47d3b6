"""`--set KEY=VALUE`: changes to the tree before it is checked, so that the same checks judge them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gantrain.spec.fields import find_slot
from gantrain.spec.loading import LoadedTree, load_text
from gantrain.spec.plain import as_list, as_mapping, item, put
from gantrain.spec.problems import Place, Problem, SpecPath, dotted, problem_at
from gantrain.spec.tasks import spec_class
from gantrain.spec.words import shown


def apply_overrides(loaded: LoadedTree, overrides: Sequence[str]) -> None:
    """Apply each `KEY=VALUE` to the tree in place, in their order. What cannot be applied is added to `loaded.problems`."""
    for override in overrides:
        place = Place(f"--set {override}")
        problem = _apply(loaded, override, place)
        if problem is not None:
            loaded.problems.append(problem)


def _apply(loaded: LoadedTree, override: str, place: Place) -> Problem | None:
    key, equals, text = override.partition("=")
    parts = [part.strip() for part in key.split(".")]
    if not equals or not all(parts):
        return problem_at(place, "yaml-syntax", "write KEY=VALUE with dots in the key, such as --set training.steps=10")
    value = load_text(text, place.file) if text.strip() else LoadedTree(None, loaded.positions, [])
    if value.problems:
        return problem_at(place, value.problems[0].rule, f"the value: {value.problems[0].message}")
    try:
        path, made = _put(loaded, parts, value.tree)
    except _CannotSet as error:
        return problem_at(place, "unknown-key", str(error))
    for parent in made:
        loaded.positions.values.setdefault(parent, place)
    loaded.positions.replace(path, place)
    return None


class _CannotSet(Exception):
    """The key leads nowhere."""


def _put(loaded: LoadedTree, parts: list[str], value: Any) -> tuple[SpecPath, list[SpecPath]]:
    """Write `value`; its path, in which positions of lists are numbers, and the paths of mappings made on the way."""
    if as_mapping(loaded.tree) is None:
        raise _CannotSet("the file is not a mapping, so no key in it can be set")
    path: SpecPath = ()
    made: list[SpecPath] = []
    container: Any = loaded.tree
    for part in parts[:-1]:
        key = _key_in(container, part, path)
        path = (*path, key)
        inner = _opened(loaded.tree, container, key, path)
        if inner is not None:
            made.append(path)
            put(container, key, inner)
        container = container[key]
    key = _key_in(container, parts[-1], path)
    put(container, key, value)
    return (*path, key), made


def _key_in(container: Any, part: str, path: SpecPath) -> str | int:
    """A key of a mapping, or a position in a list: up to its length, which appends."""
    items = as_list(container)
    if items is None:
        return part
    count = len(items)
    if not (part.isascii() and part.isdigit() and int(part[:9]) <= count):
        raise _CannotSet(f"{dotted(path)} is a list of {count}; write a position from 0 to {count}, not {part}")
    return int(part)


def _opened(tree: Any, container: Any, key: str | int, path: SpecPath) -> dict[str, Any] | None:
    """The mapping to put at `key` where none is: it is missing, null, or a component written as a bare name. Else None."""
    inner = item(container, key)
    if isinstance(inner, dict | list):
        return None
    slot = find_slot(spec_class(tree), tree, path).slot
    name = inner if inner is not None else slot.default
    if slot.kind is not None and isinstance(name, str):
        return {"name": name}
    if slot.kind is not None and as_mapping(name) is not None:  # a default with settings of its own
        return dict(name)
    if inner is not None:
        raise _CannotSet(f"{dotted(path)} is {shown(inner)}, which has no keys inside")
    return {}
