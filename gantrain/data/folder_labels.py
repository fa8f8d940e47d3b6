"""Which class each picture of a folder has: by its top-level folder, or by a labels file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gantrain.data import labels_file, labels_join, scan
from gantrain.data.scan import Scan, printable
from gantrain.data.words import counted
from gantrain.errors import DataError

FOLDERS = "folders"
SHOWN = 3


@dataclass(frozen=True)
class FolderLabels:
    """`by_name`: label of each picture that has one, None for a source without labels."""

    by_name: dict[str, str] | None
    notes: tuple[str, ...] = ()

    def classes(self, names: Sequence[str]) -> tuple[str, ...]:
        """Class names of these pictures, in order."""
        return () if self.by_name is None else labels_join.sorted_labels(self.by_name[name] for name in names)

    def numbers(self, names: Sequence[str]) -> np.ndarray | None:
        """Class numbers [n] int64 of these pictures, or None."""
        if self.by_name is None:
            return None
        number = {label: index for index, label in enumerate(self.classes(names))}
        return np.array([number[self.by_name[name]] for name in names], np.int64)


def labels_of(found: Scan, setting: str | None, base_dir: Path, *, skip: bool) -> FolderLabels:
    """Labels as the setting says. Pictures without a label are an error, or with `skip` left out and noted. Raises DataError."""
    if setting is None:
        return FolderLabels(None)
    if setting == FOLDERS:
        scan.class_names(found)
        return FolderLabels({name: name.split("/")[0] for name in found.names})
    path = base_dir / Path(setting).expanduser()
    joined = labels_join.join(found.names, labels_file.read(path))
    _check(path, found, joined, skip=skip)
    return FolderLabels(joined.labels, tuple(_notes(path, joined)))


def _check(path: Path, found: Scan, joined: labels_join.Joined, *, skip: bool) -> None:
    missing = joined.without_label
    if not joined.labels:
        raise DataError(
            f"no name in {path} is a picture in {found.root}: the file says {joined.without_file[0]}, the folder has "
            f"{printable(found.names[0])}{labels_join.case_hint(joined)}"
        )
    if missing and not skip:
        raise DataError(
            f"{len(missing):,} of {counted(len(found.names), 'picture')} without a label in {path}: {_few(missing)}"
            f"{labels_join.case_hint(joined)}; add them, remove the pictures, or write on_bad_file: skip"
        )


def _notes(path: Path, joined: labels_join.Joined) -> list[str]:
    notes: list[str] = []
    if joined.without_file:
        notes.append(
            f"{counted(len(joined.without_file), 'name')} in {path} without a picture in the folder: {_few(joined.without_file)}"
        )
    if joined.without_label:
        notes.append(f"{counted(len(joined.without_label), 'picture')} without a label, left out: {_few(joined.without_label)}")
    return notes


def _few(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(printable(name) for name in names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
