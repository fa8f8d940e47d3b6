"""Writes the file that the source `packed` reads."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gantrain.data.packed import BLOCK_BYTES, BLOCKS, MARK, PRELUDE, START, Block, Header
from gantrain.data.pairing import pairing_of
from gantrain.data.progress import advance
from gantrain.data.report import report_of
from gantrain.errors import DataError, UsageError
from gantrain.interfaces import Source

CHUNK_BYTES = 2**24  # written together


def write(source: Source, origin: dict[str, Any], out: Path) -> Header:
    """Decode all examples of `source` into the new file `out`; whole or not at all. Raises DataError, UsageError."""
    if out.exists():
        raise DataError(f"{out} is there already; remove it, or give another name")
    if pairing_of(source) is not None:
        raise UsageError("a pack holds examples and labels, but no targets; train from the source itself")
    temporary = out.with_name(f".{out.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            header = _write_all(file, source, origin)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(out)
    except OSError as error:
        raise DataError(f"{out} cannot be written ({error.strerror}); check the place and the room on the disk") from error
    finally:
        temporary.unlink(missing_ok=True)
    return header


def _write_all(file: Any, source: Source, origin: dict[str, Any]) -> Header:
    file.write(bytes(START))
    total, dtype = hashlib.sha256(), np.dtype(np.uint8)
    for part in _parts(source):
        total.update(part.data)
        file.write(part.data)
        dtype = part.dtype
    labels = None if source.labels is None else np.ascontiguousarray(source.labels, np.int64)
    if labels is not None:
        file.write(labels.data)
    file.flush()
    header = _header(file, source, origin, dtype, (total.hexdigest(), labels))
    content = header.model_dump_json().encode()
    place = file.tell()
    file.write(content)
    file.seek(0)
    file.write(PRELUDE.pack(MARK, place, len(content), hashlib.sha256(content).digest()))
    return header


def _parts(source: Source) -> Iterator[np.ndarray]:
    one = source.load(np.zeros(1, np.int64))
    count = max(1, CHUNK_BYTES // max(1, one.nbytes))
    for start in range(0, source.length, count):
        indices = np.arange(start, min(start + count, source.length), dtype=np.int64)
        yield np.ascontiguousarray(source.load(indices))
        advance("packing", int(indices[-1]) + 1, source.length)


def _header(file: Any, source: Source, origin: dict[str, Any], dtype: np.dtype, digests: tuple[str, np.ndarray | None]) -> Header:
    report, labels = report_of(source), digests[1]
    size = source.length * int(np.prod(source.shape)) * dtype.itemsize
    return Header(
        shape=tuple(source.shape),
        length=source.length,
        dtype="uint8" if dtype == np.uint8 else "float32",
        value_range=source.value_range,
        class_names=tuple(source.class_names),
        labelled=labels is not None,
        table=getattr(source, "table", None),
        fingerprint=source.fingerprint(),
        origin=origin,
        scan=None if report is None else asdict(report),
        sha256=digests[0],
        labels_sha256=None if labels is None else hashlib.sha256(labels.data).hexdigest(),
        blocks=tuple(_blocks(Path(file.name), size)),
    )


def _blocks(path: Path, size: int) -> Iterator[Block]:
    with path.open("rb") as file:
        for start in np.unique(np.linspace(0, max(0, size - BLOCK_BYTES), BLOCKS).astype(np.int64)).tolist():
            file.seek(START + start)
            content = file.read(min(BLOCK_BYTES, size - start))
            yield Block(start=start, length=len(content), sha256=hashlib.sha256(content).hexdigest())
