"""The scan: every picture of a folder is read and decoded once, in parallel, before the first step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from gantrain.data import scan_cache
from gantrain.data.framing import Frame
from gantrain.data.inspect import PictureFacts, look
from gantrain.data.progress import advance
from gantrain.data.scan import Scan

CHUNK = 64  # files that one thread takes together
THREADS = min(8, os.cpu_count() or 1)

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Survey:
    """Facts of each picture, in the order of `names`; `cached` of them were known from before. `sizes` are bytes on disk."""

    root: Path
    names: tuple[str, ...]
    facts: tuple[PictureFacts, ...]
    sizes: tuple[int, ...]
    cached: int
    pictures: np.ndarray | None = None  # [n,H,W,C], where they fit into memory; black for those that cannot be used

    def bad(self) -> list[tuple[str, str]]:
        """(name, cause) of the pictures that cannot be used."""
        pairs = zip(self.names, self.facts, strict=True)
        return [(name, facts.cause) for name, facts in pairs if facts.cause is not None]

    def keep(self, wanted: Sequence[bool]) -> Survey:
        """Only the pictures that are wanted."""
        rows = [row for row, keep in zip(zip(self.names, self.facts, self.sizes, strict=True), wanted, strict=True) if keep]
        names, facts, sizes = zip(*rows, strict=True) if rows else ((), (), ())
        pictures = self.pictures if self.pictures is None or all(wanted) else self.pictures[np.asarray(wanted)]
        return replace(self, names=names, facts=facts, sizes=sizes, pictures=pictures)


def survey(found: Scan, frame: Frame | None = None, room: int = 0) -> Survey:
    """Look at every file of `found`, unless its size and time of change are those of a look before.

    With a frame, and `room` bytes for them, the decoded pictures come along: nothing is decoded twice.
    """
    if frame is None or len(found.names) * int(np.prod(frame.shape)) > room:
        return _looked(found, None, None)
    return _looked(found, frame, np.zeros((len(found.names), *frame.shape), np.uint8))


def _looked(found: Scan, frame: Frame | None, pictures: np.ndarray | None) -> Survey:
    known = scan_cache.load(found.root)
    stamps = [scan_cache.stamp(found.root / name) for name in found.names]
    facts = [_known(known, name, stamp) for name, stamp in zip(found.names, stamps, strict=True)]
    missing = [index for index, item in enumerate(facts) if item is None]
    wanted = missing if pictures is None else range(len(facts))
    jobs = each(lambda index: look(found.root / found.names[index], frame), wanted, f"scanning {found.root}")
    for index, (fresh, picture) in jobs:
        facts[index] = facts[index] or fresh
        if pictures is not None and picture is not None:
            pictures[index] = picture
    whole = tuple(item for item in facts if item is not None)
    if missing or len(known) != len(found.names):
        entries = zip(found.names, stamps, whole, strict=True)
        scan_cache.save(found.root, {name: (stamp, item.as_list()) for name, stamp, item in entries if stamp is not None})
    sizes = tuple(stamp[0] if stamp else 0 for stamp in stamps)
    return Survey(found.root, found.names, whole, sizes, len(whole) - len(missing), pictures)


def _known(known: dict[str, scan_cache.Entry], name: str, stamp: scan_cache.Stamp | None) -> PictureFacts | None:
    entry = known.get(name)
    if entry is None or stamp is None or entry[0] != stamp:
        return None
    try:
        return PictureFacts.from_list(entry[1])
    except (TypeError, ValueError):
        return None


def each(job: Callable[[int], T], indices: Sequence[int], what: str) -> Iterator[tuple[int, T]]:
    """(index, job(index)) in order, computed by threads (Pillow works outside the interpreter's lock), with progress."""
    chunks = [indices[start : start + CHUNK] for start in range(0, len(indices), CHUNK)]
    done = 0
    with ThreadPoolExecutor(THREADS) as pool:
        for chunk, results in zip(chunks, pool.map(lambda chunk: [job(index) for index in chunk], chunks), strict=True):
            yield from zip(chunk, results, strict=True)
            done += len(chunk)
            advance(what, done, len(indices))
