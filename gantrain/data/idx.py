"""MNIST-style idx files: 00 00, a byte for the type, a byte for the number of axes, the axes as big-endian int32, the values."""

from __future__ import annotations

import gzip
import math
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from gantrain.data.arrays import Arrays, check_values
from gantrain.data.file_settings import Idx as Settings
from gantrain.data.memory import LARGEST_IN_MEMORY, MemorySource
from gantrain.data.room import check_fits
from gantrain.data.words import counted
from gantrain.errors import DataError
from gantrain.interfaces import SourceFacts

TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
GZIP = b"\x1f\x8b"
LARGEST = 2**40  # values: more is a damaged header


@dataclass(frozen=True)
class Header:
    """What the start of a file says."""

    path: Path
    dtype: np.dtype
    shape: tuple[int, ...]
    packed: bool  # by gzip

    @property
    def start(self) -> int:
        """Bytes before the values."""
        return 4 + 4 * len(self.shape)

    @property
    def size(self) -> int:
        """Bytes of the values."""
        return math.prod(self.shape) * self.dtype.itemsize

    def example_shape(self) -> tuple[int, ...]:
        """(D,) or (H,W,C); C = 1 is added to [N,H,W]."""
        return (*self.shape[1:], 1) if len(self.shape) == 3 else self.shape[1:]


def facts(settings: Settings, base_dir: Path) -> SourceFacts:
    """Facts of the `idx` source. Raises DataError."""
    header = _pictures(settings, base_dir)
    labels = _labels(settings, base_dir, header)
    bounded = settings.value_range is not None or header.dtype == np.uint8
    classes = None if labels is None else int(labels.max()) + 1
    return SourceFacts(header.example_shape(), header.shape[0], classes, bounded=bounded)


def build(settings: Settings, base_dir: Path) -> Arrays | MemorySource:
    """Open and check the whole array. Raises DataError that names the file."""
    header = _pictures(settings, base_dir)
    labels = _labels(settings, base_dir, header)
    value_range = settings.value_range or ((0.0, 255.0) if header.dtype == np.uint8 else None)
    classes = () if labels is None else tuple(str(label) for label in range(labels.max() + 1))
    source = Arrays(_values(header), header.example_shape(), value_range, labels, classes)
    check_values(source, str(header.path), declared=settings.value_range is not None)
    return source.in_full() if header.packed or header.size <= LARGEST_IN_MEMORY else source


def read_header(path: Path) -> Header:
    """Header of one file, judged by content. Raises DataError that names it."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"idx file {path} {what}; correct data.source (relative paths start at the config file's folder)")
    try:
        with path.open("rb") as file:
            packed = file.read(2) == GZIP
        with _opened(path, packed) as file:
            return _parsed(path, file, packed)
    except (OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read ({error}); it is damaged or cut off: copy it again") from error


def _opened(path: Path, packed: bool) -> IO[bytes] | gzip.GzipFile:
    return gzip.open(path, "rb") if packed else path.open("rb")


def _parsed(path: Path, file: Any, packed: bool) -> Header:
    start = file.read(4)
    if len(start) < 4 or start[:2] != b"\0\0" or start[2] not in TYPES or not 1 <= start[3] <= 4:
        raise DataError(f"{path} is no idx file (it starts with {start.hex(' ') or 'nothing'}); for npy and npz files use arrays")
    axes = file.read(4 * start[3])
    shape = tuple(int(axis) for axis in np.frombuffer(axes[: len(axes) // 4 * 4], ">i4"))
    if len(shape) < start[3]:
        raise DataError(f"{path} is cut off in its header; copy it again")
    if min(shape) < 1 or math.prod(shape) > LARGEST:
        raise DataError(f"{path} says its shape is {shape}, which cannot be; it is damaged")
    return Header(path, np.dtype(TYPES[start[2]]), shape, packed)


def _pictures(settings: Settings, base_dir: Path) -> Header:
    header = read_header(base_dir / Path(settings.path).expanduser())
    if len(header.shape) == 1:
        raise DataError(f"{header.path} holds one number per example: that is a file of labels; give the pictures as `path`")
    if header.dtype != np.uint8 and len(header.shape) > 2 and settings.value_range is None:
        first = np.asarray(_values(header)[:1000])
        span = f"the first examples go from {first.min():g} to {first.max():g}"
        raise DataError(f"{header.path} holds {header.dtype} values, {span}; declare data.source.value_range: [lowest, highest]")
    return header


def _labels(settings: Settings, base_dir: Path, pictures: Header) -> np.ndarray | None:
    if settings.labels is None:
        return None
    header = read_header(base_dir / Path(settings.labels).expanduser())
    if len(header.shape) != 1 or header.dtype.kind not in "ui":
        raise DataError(f"{header.path} holds {header.dtype} {header.shape}, no labels; wanted is one whole number per example")
    if header.shape[0] != pictures.shape[0]:
        raise DataError(
            f"{header.path} has {counted(header.shape[0], 'label')}, "
            f"{pictures.path} has {counted(pictures.shape[0], 'example')}; give files of the same part (train or t10k)"
        )
    labels = np.asarray(_values(header)).astype(np.int64)
    if labels.min() < 0:
        raise DataError(f"{header.path}: labels go down to {labels.min()}; classes are numbered from 0")
    return labels


def _values(header: Header) -> np.ndarray:
    """All values: mapped from a plain file, read from a gzip one."""
    if not header.packed:
        there = header.path.stat().st_size - header.start
        _check_size(header, there)
        return np.memmap(header.path, header.dtype, "r", header.start, header.shape)
    check_fits(2 * header.size, f"idx file {header.path}", "unpack it with gunzip: a plain file is read as it is needed")
    try:
        with gzip.open(header.path, "rb") as file:
            content = file.read(header.start + header.size + 1)[header.start :]
    except (OSError, EOFError) as error:  # BadGzipFile is an OSError
        raise DataError(f"{header.path} is damaged or cut off ({error}); copy it again") from error
    except Exception as error:  # zlib.error
        raise DataError(f"{header.path} is damaged ({error}); copy it again") from error
    _check_size(header, len(content))
    return np.frombuffer(content, header.dtype).reshape(header.shape)


def _check_size(header: Header, there: int) -> None:
    if there != header.size:
        more = "more" if there > header.size else f"{there:,}"
        raise DataError(
            f"{header.path} should hold {header.size:,} bytes of values for shape {header.shape}, it holds {more}; copy it again"
        )
