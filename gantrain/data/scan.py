"""Which pictures a folder holds: names only, nothing is opened (free of TensorFlow and Pillow)."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from gantrain.errors import DataError

SUFFIXES = (".png", ".jpg", ".jpeg", ".jfif", ".webp", ".bmp", ".gif", ".tif", ".tiff")  # in any case; content decides later
IGNORED = frozenset(
    {"thumbs.db", "desktop.ini", "__macosx"}
)  # left behind by systems; names with a leading dot are ignored as well


@dataclass(frozen=True)
class Limits:
    """Where a quick look stops."""

    entries: float = 50_000
    seconds: float = 0.2


QUICK = Limits()
NO_LIMITS = Limits(float("inf"), float("inf"))


@dataclass(frozen=True)
class Scan:
    """`names` are the pictures' paths relative to `root`, with forward slashes, sorted by code point."""

    root: Path
    names: tuple[str, ...]
    folders: tuple[str, ...]  # directly under `root`, sorted
    entries: int  # names seen, whatever they are
    complete: bool
    ignored: tuple[str, ...] = ()  # hidden and system files, and files whose suffix is no picture's


@dataclass
class _Walk:
    """The folders still to list. Each real folder is listed once, so that loops of symbolic links end."""

    limits: Limits
    started: float = field(default_factory=time.monotonic)
    entries: int = 0
    cut: bool = False
    seen: set[tuple[int, int]] = field(default_factory=set)
    folders: deque[str] = field(default_factory=deque)
    top: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    links: deque[str] = field(default_factory=deque)  # after all real folders: a link never takes a real folder's place

    def may_go_on(self) -> bool:
        """Counts one entry, and says whether it is within the limits."""
        if self.is_late() or self.entries >= self.limits.entries:
            self.cut = True
        else:
            self.entries += 1
        return not self.cut

    def is_late(self) -> bool:
        """Whether the time is up; then the walk is cut."""
        late = time.monotonic() - self.started > self.limits.seconds
        self.cut = self.cut or late
        return late


def scan(root: Path, limits: Limits = NO_LIMITS) -> Scan:
    """Pictures under `root`. Raises DataError if it is missing, no folder, or holds no picture."""
    _check_folder(root)
    walk = _Walk(limits, folders=deque([""]))
    names = sorted(_pictures(root, walk))
    if not names and not walk.cut:
        seen = f"{walk.entries} other entries were seen" if walk.entries else "it is empty"
        raise DataError(
            f"folder {root} holds no pictures ({seen}); put {', '.join(SUFFIXES)} files there or correct data.source.path"
        )
    return Scan(root, tuple(names), tuple(walk.top), walk.entries, not walk.cut, tuple(sorted(walk.ignored)))


def _check_folder(root: Path) -> None:
    if not root.exists():
        raise DataError(
            f"folder {root} does not exist; correct data.source.path (relative paths start at the config file's folder)"
        )
    if not root.is_dir():
        raise DataError(f"{root} is a file, image_folder needs a folder; give the folder that holds the pictures")


def _pictures(root: Path, walk: _Walk) -> Iterator[str]:
    while (walk.folders or walk.links) and not walk.cut:
        folder = (walk.folders or walk.links).popleft()
        yield from _pictures_in(root, folder, walk)


def _pictures_in(root: Path, folder: str, walk: _Walk) -> Iterator[str]:
    for entry in _new_entries(root / folder, walk):
        name = f"{folder}/{entry.name}" if folder else entry.name
        if _is_ignored(entry.name):
            walk.ignored.append(name)
            continue
        if walk.is_late():
            return
        if _is_folder(entry):
            walk.top += [] if folder else [name]
            (walk.links if entry.is_symlink() else walk.folders).append(name)
        elif entry.name.lower().endswith(SUFFIXES):
            yield name
        else:
            walk.ignored.append(name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """A link that leads nowhere, or to itself, is no folder: with a picture's name it is then a bad file like others."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _new_entries(folder: Path, walk: _Walk) -> list[os.DirEntry[str]]:
    """Entries of a folder, sorted; none if the folder was listed before."""
    try:
        status = os.stat(folder)
        identity = (status.st_dev, status.st_ino)
        if identity in walk.seen:
            return []
        walk.seen.add(identity)
        with os.scandir(folder) as entries:
            return sorted(takewhile(lambda _: walk.may_go_on(), entries), key=lambda entry: entry.name)
    except OSError as error:
        raise DataError(f"folder {folder} cannot be listed ({error.strerror}); check its permissions") from error


def _is_ignored(name: str) -> bool:
    return name.startswith(".") or name.lower() in IGNORED


def class_names(found: Scan) -> tuple[str, ...]:
    """Top-level folders that hold pictures, sorted; after a look that was cut, all top-level folders.

    Raises DataError for a picture outside of them.
    """
    stray = [name for name in found.names if "/" not in name]
    if stray:
        raise DataError(
            f"labels: folders needs each picture of {found.root} in a folder named after its class, but {len(stray)} "
            f"lie outside, such as {printable(stray[0])}; move them or write labels: null"
        )
    return tuple(sorted({name.split("/")[0] for name in found.names})) if found.complete else found.folders


def printable(name: str) -> str:
    """A file name that any terminal can show, even if it is not valid UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()
