"""Specs as plain trees: written as YAML that reads back equal, made independent of the current directory, compared."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from gantrain.plugins import is_file_entry
from gantrain.spec import scalars
from gantrain.spec.model import to_tree
from gantrain.spec.plain import as_list, as_mapping
from gantrain.spec.tasks import AnySpec

ABSENT = "(absent)"  # in a diff: the key is not there at all, which is not the same as null


class _Dumper(yaml.SafeDumper):
    """SafeDumper that quotes text which YAML 1.1 or 1.2 would read as something else, and never writes aliases."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """Always."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        """Lists are indented under their key."""
        super().increase_indent(flow, False)


scalars.add_resolvers(_Dumper)  # behind those of YAML 1.1: text that means a number or a boolean in either is quoted


def _represent_float(dumper: Any, value: float) -> yaml.ScalarNode:
    """As PyYAML's, but integers beyond 1e16, which repr() writes as 1e+16, get a dot: a float for readers of YAML 1.1 too."""
    text = repr(value).replace("inf", ".inf").replace("nan", ".nan")
    mantissa, e, exponent = text.partition("e")
    if e and "." not in mantissa:
        mantissa += ".0"
    return dumper.represent_scalar(scalars.PREFIX + "float", mantissa + e + exponent)


def _represent_text(dumper: Any, value: str) -> yaml.ScalarNode:
    """As PyYAML's, but quoted where a line separator would be lost at the ends of plain text."""
    style = '"' if any(character in value for character in "\x85\u2028\u2029\ufeff") else None
    return dumper.represent_scalar(scalars.STRING, value, style=style)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(float, _represent_float)


def dump_yaml(tree: Any) -> str:
    """YAML text of mappings, lists and scalars; reading it back gives an equal tree."""
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=130)


def resolved_tree(spec: AnySpec, base_dir: Path) -> dict[str, Any]:
    """The spec with every default and absolute paths: data and plugins from `base_dir`, output from the current directory."""
    tree = to_tree(spec)
    _make_absolute(tree, base_dir)
    tree["output"]["dir"] = os.path.abspath(os.path.expanduser(tree["output"]["dir"]))
    tree["plugins"] = [_absolute(entry, base_dir) if is_file_entry(entry) else entry for entry in tree["plugins"]]
    return tree


def _make_absolute(tree: Any, base_dir: Path) -> None:
    """Settings named `path` or `..._path`, and `labels` that name a file, wherever a component has them."""
    for key, value in _items(tree):
        if isinstance(value, str) and _is_path(str(key), value):
            tree[key] = _absolute(value, base_dir)
        else:
            _make_absolute(value, base_dir)


def _is_path(key: str, value: str) -> bool:
    return key == "path" or key.endswith("_path") or (key == "labels" and value != "folders")


def _items(tree: Any) -> list[tuple[Any, Any]]:
    mapping, items = as_mapping(tree), as_list(tree)
    return list((mapping or {}).items()) if items is None else list(enumerate(items))


def _absolute(path: str, base_dir: Path) -> str:
    return os.path.abspath(base_dir / os.path.expanduser(path))


def diff_trees(old: Any, new: Any) -> list[tuple[str, Any, Any]]:
    """(dotted key, old value, new value) for each leaf that differs; ABSENT where one side has no such key."""
    before, after = dict(_leaves(old, "")), dict(_leaves(new, ""))
    keys = dict.fromkeys([*before, *after])
    pairs = [(key, before.get(key, ABSENT), after.get(key, ABSENT)) for key in keys]
    return [pair for pair in pairs if not _same(pair[1], pair[2])]


def _same(old: Any, new: Any) -> bool:
    return old == new and isinstance(old, bool) == isinstance(new, bool)


def _leaves(tree: Any, key: str) -> Iterator[tuple[str, Any]]:
    items = _items(tree)
    is_leaf = not items or (isinstance(tree, list) and not any(isinstance(value, dict | list) for _, value in items))
    if is_leaf:
        yield key, tree
        return
    for name, value in items:
        yield from _leaves(value, f"{key}.{name}" if key else str(name))
