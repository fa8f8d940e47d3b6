"""Pictures in a folder. Small sets are decoded once and kept in memory; of large ones the headers are checked first."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from gantrain.data import decode, scan
from gantrain.data.catalog import ImageFolder as Settings
from gantrain.data.decode import Frame
from gantrain.data.memory import LARGEST_IN_MEMORY, MemorySource, digest
from gantrain.errors import DataError

SMALL_SET_FILES = 5_000  # up to so many files, or
SMALL_SET_BYTES = 64 * 2**20  # so many bytes on disk, the set is decoded at the start
SHOWN = 5  # bad files named in one message

T = TypeVar("T")


def build(settings: Settings, base_dir: Path) -> ImageFolder | MemorySource:
    """Scan the folder and check every file before the first step. Raises DataError that names the bad files."""
    found = scan.scan(base_dir / Path(settings.path).expanduser())
    classes = scan.class_names(found) if settings.labels else ()
    labels = _labels(found.names, classes) if settings.labels else None
    folder = ImageFolder(found.root, found.names, _sizes(found), Frame.of(settings), labels, classes)
    return folder.in_full() if folder.is_small else folder.checked()


@dataclass(frozen=True, eq=False)
class ImageFolder:
    """Pictures `names` under `root`, read when they are needed (by Pillow), uint8 [n,H,W,C]."""

    root: Path
    names: tuple[str, ...]
    sizes: tuple[int, ...]  # bytes of each file
    frame: Frame
    labels: np.ndarray | None
    class_names: tuple[str, ...]
    value_range: tuple[float, float] = (0.0, 255.0)
    in_memory: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, W, C)."""
        return (self.frame.height, self.frame.width, self.frame.channels)

    @property
    def length(self) -> int:
        """Number of pictures."""
        return len(self.names)

    @property
    def is_small(self) -> bool:
        """Whether decoding everything at the start is quick and fits in memory."""
        quick = self.length <= SMALL_SET_FILES or sum(self.sizes) <= SMALL_SET_BYTES
        return quick and self.length * int(np.prod(self.shape)) <= LARGEST_IN_MEMORY

    def load(self, indices: np.ndarray) -> np.ndarray:
        """Pictures [n,H,W,C] at `indices` [n]."""
        return np.stack([decode.decode(self.root / self.names[index], self.frame) for index in indices])

    def in_full(self) -> MemorySource:
        """The same pictures, decoded and kept."""
        pictures = np.empty((self.length, *self.shape), np.uint8)

        def fill(index: int) -> None:
            pictures[index] = decode.decode(self.root / self.names[index], self.frame)

        _each_file(fill, range(self.length))
        return MemorySource(pictures, self.value_range, self.labels, self.class_names)

    def checked(self) -> ImageFolder:
        """Itself, after a look at every header."""
        _each_file(lambda index: decode.check(self.root / self.names[index]), range(self.length))
        return self

    def fingerprint(self) -> str:
        """Digest over names, file sizes, frame and labels."""
        return digest("image_folder", repr(self.frame), *self.names, np.array(self.sizes, np.int64), self.labels)


def _labels(names: Sequence[str], classes: tuple[str, ...]) -> np.ndarray:
    number = {name: index for index, name in enumerate(classes)}
    return np.array([number[name.split("/")[0]] for name in names], np.int64)


def _sizes(found: scan.Scan) -> tuple[int, ...]:
    """Bytes of each file; 0 for a broken link, which the check then names."""
    paths = (os.path.join(found.root, name) for name in found.names)
    return tuple(os.stat(path).st_size if os.path.exists(path) else 0 for path in paths)


def _each_file(job: Callable[[int], T], indices: Sequence[int]) -> None:
    """Run the job on all files in parallel (Pillow works outside the interpreter's lock) and report all bad ones together."""

    def error_of(index: int) -> str | None:
        try:
            job(index)
        except DataError as error:
            return str(error)
        return None

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        bad = [error for error in pool.map(error_of, indices) if error is not None]
    if bad:
        listed = "\n  ".join(bad[:SHOWN]) + (f"\n  and {len(bad) - SHOWN} more" if len(bad) > SHOWN else "")
        raise DataError(f"{len(bad)} of {len(indices)} pictures cannot be used; replace or remove them:\n  {listed}")
