"""One file with a whole decoded set: memory-mapped, checked by digests, ready at once.

Layout: 64 bytes (mark; place, length and sha256 of the header), from byte 4096 on the examples, labels (int64), and the header.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from gantrain.data.file_settings import Packed as Settings
from gantrain.data.memory import LARGEST_IN_MEMORY, MemorySource
from gantrain.data.report import Report
from gantrain.data.table import Table
from gantrain.errors import DataError
from gantrain.interfaces import Range, SourceFacts

MARK = b"gantrain-pack-01"
PRELUDE = struct.Struct("<16sQQ32s")
START = 4096  # of the examples: a whole page
BLOCKS, BLOCK_BYTES = 64, 2**20  # of a set too large to be read at the start: so many, evenly spread, are checked


class Block(BaseModel):
    """A part of the file and its digest."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    start: int
    length: int
    sha256: str


class Header(BaseModel):
    """Everything but the values."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    format: Literal[1] = 1
    shape: tuple[int, ...]
    length: int
    dtype: Literal["uint8", "float32"]
    value_range: Range | None
    class_names: tuple[str, ...]
    labelled: bool
    table: Table | None
    fingerprint: str  # of the source it was made from
    origin: dict[str, Any]  # settings of that source
    scan: dict[str, Any] | None  # its report
    sha256: str  # of the examples
    labels_sha256: str | None
    blocks: tuple[Block, ...]

    @property
    def size(self) -> int:
        """Bytes of the examples."""
        return self.length * int(np.prod(self.shape)) * np.dtype(self.dtype).itemsize

    @property
    def labels_size(self) -> int:
        """Bytes of the labels."""
        return 8 * self.length if self.labelled else 0


# ---------------------------------------------------------------- reading


def facts(settings: Settings, base_dir: Path) -> SourceFacts:
    """Facts of the `packed` source, from the header. Raises DataError."""
    header = read_header(base_dir / Path(settings.path).expanduser())
    bounded = header.value_range is not None
    return SourceFacts(
        header.shape, header.length, len(header.class_names) or None, bounded=bounded, class_names=header.class_names
    )


def build(settings: Settings, base_dir: Path) -> Packed | MemorySource:
    """Open and check. Small sets are read into memory and checked in full, of large ones 64 blocks. Raises DataError."""
    path = base_dir / Path(settings.path).expanduser()
    header = read_header(path)
    values = np.memmap(path, np.dtype(header.dtype), "r", START, (header.length, *header.shape))
    labels = _labels(path, header)
    report = None if header.scan is None else _report(header.scan)
    if header.size > LARGEST_IN_MEMORY:
        _check_blocks(path, header)
        return Packed(values, header, labels, report)
    kept = np.array(values)
    if hashlib.sha256(kept.data).hexdigest() != header.sha256:
        raise DataError(f"{path} is damaged (its digest is wrong); pack the data again")
    return MemorySource(kept, header.value_range, labels, header.class_names, report, header.table)


@dataclass(frozen=True, eq=False)
class Packed:
    """Examples mapped from the file."""

    values: np.ndarray
    header: Header
    labels: np.ndarray | None
    report: Report | None
    in_memory: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one example."""
        return self.header.shape

    @property
    def length(self) -> int:
        """Number of examples."""
        return self.header.length

    @property
    def value_range(self) -> Range | None:
        """Of the values."""
        return self.header.value_range

    @property
    def class_names(self) -> tuple[str, ...]:
        """Empty without labels."""
        return self.header.class_names

    @property
    def table(self) -> Table | None:
        """Of rows that came from a table."""
        return self.header.table

    def load(self, indices: np.ndarray) -> np.ndarray:
        """Examples [n,*shape] at `indices` [n]."""
        return np.asarray(self.values[indices])

    def fingerprint(self) -> str:
        """That of the source it was made from: the same data."""
        return self.header.fingerprint


def read_header(path: Path) -> Header:
    """Header of a packed file. Raises DataError that names it."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"packed file {path} {what}; make one with `gantrain pack CONFIG FILE`")
    with path.open("rb") as file:
        start = file.read(PRELUDE.size)
        if not start.startswith(MARK[:13]):
            raise DataError(f"{path} is no file that `gantrain pack` wrote; make one with `gantrain pack CONFIG FILE`")
        if len(start) < PRELUDE.size or not start.startswith(MARK):
            raise DataError(f"{path} is cut off, or of another gantrain version; pack the data again")
        _, place, length, proof = PRELUDE.unpack(start)
        whole = place + length == path.stat().st_size
        file.seek(place if whole else 0)
        content = file.read(length) if whole else b""
    if hashlib.sha256(content).digest() != proof:
        raise DataError(f"{path} is damaged or cut off; pack the data again")
    return _parsed(path, content, place)


def _parsed(path: Path, content: bytes, place: int) -> Header:
    try:
        header = Header.model_validate(json.loads(content))
    except (ValueError, ValidationError) as error:
        raise DataError(f"{path} is of another gantrain version; pack the data again") from error
    if START + header.size + header.labels_size != place:
        raise DataError(
            f"{path} is damaged: it holds {place - START:,} bytes of data instead of {header.size + header.labels_size:,}"
        )
    return header


def _labels(path: Path, header: Header) -> np.ndarray | None:
    if not header.labelled:
        return None
    labels = np.fromfile(path, np.int64, header.length, offset=START + header.size)
    if hashlib.sha256(labels.data).hexdigest() != header.labels_sha256:
        raise DataError(f"{path} is damaged (the digest of its labels is wrong); pack the data again")
    return labels


def _check_blocks(path: Path, header: Header) -> None:
    with path.open("rb") as file:
        for block in header.blocks:
            file.seek(START + block.start)
            if hashlib.sha256(file.read(block.length)).hexdigest() != block.sha256:
                raise DataError(f"{path} is damaged (a digest near byte {START + block.start:,} is wrong); pack the data again")


def _report(tree: dict[str, Any]) -> Report:
    return Report(tuple(tree["lines"]), tuple(tree["warnings"]), tree["tree"], tree["skipped"])
