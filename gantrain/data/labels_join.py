"""Brings labels and files together by name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gantrain.data.labels_file import Pair, normalised


@dataclass(frozen=True)
class Joined:
    """`labels` by file name; what found no partner on either side."""

    labels: dict[str, str]
    without_label: tuple[str, ...]  # files
    without_file: tuple[str, ...]  # names in the labels file


def join(names: tuple[str, ...], pairs: tuple[Pair, ...]) -> Joined:
    """Labels of the files: by path, or by the end of the path where the labels file says more or less of it."""
    by_name, by_base = set(names), _unique_ends(names)
    labels: dict[str, str] = {}
    missing: list[str] = []
    for pair in pairs:
        file = _partner(normalised(pair.name), by_name, by_base)
        if file is None:
            missing.append(pair.name)
        else:
            labels[file] = pair.label
    return Joined(labels, tuple(name for name in names if name not in labels), tuple(missing))


def _unique_ends(names: tuple[str, ...]) -> dict[str, str]:
    ends: dict[str, list[str]] = {}
    for name in names:
        ends.setdefault(name.rpartition("/")[2], []).append(name)
    return {end: files[0] for end, files in ends.items() if len(files) == 1}


def _partner(name: str, by_name: set[str], by_base: dict[str, str]) -> str | None:
    parts = name.split("/")
    for start in range(len(parts)):
        if "/".join(parts[start:]) in by_name:
            return "/".join(parts[start:])
    return by_base.get(parts[-1]) if len(parts) == 1 else None


def case_hint(joined: Joined) -> str:
    """Says so if names differ only in case."""
    lowered = {normalised(name).lower().rpartition("/")[2]: name for name in joined.without_file}
    for name in joined.without_label:
        other = lowered.get(name.lower().rpartition("/")[2])
        if other is not None:
            return f"; {other} and {name} differ only in case: write it as the file is named"
    return ""


def sorted_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Class names in order: whole numbers by value, everything else by code point."""
    unique = set(labels)
    if all(re.fullmatch(r"-?\d{1,18}", label) for label in unique):
        return tuple(sorted(unique, key=lambda label: (int(label), label)))
    return tuple(sorted(unique))
