"""Examples in one .npy or .npz file. Files beyond 512 MiB stay memory-mapped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gantrain.data import headers
from gantrain.data.catalog import Arrays as Settings
from gantrain.data.memory import LARGEST_IN_MEMORY, MemorySource, digest
from gantrain.data.pairing import Pairing
from gantrain.data.report import Report
from gantrain.data.words import counted
from gantrain.errors import DataError
from gantrain.interfaces import Range

CHUNK_VALUES = 2**22  # values looked at together
FINGERPRINT_BLOCKS = 64  # of a mapped file, evenly spread
FINGERPRINT_BLOCK_BYTES = 2**20


def build(settings: Settings, base_dir: Path) -> Arrays | MemorySource:
    """Open and check the whole array: finite, and inside the declared range. Raises DataError."""
    places = headers.Places.of(settings, base_dir)
    header = places.of_examples()
    headers.check(header, settings.value_range)
    labels = headers.read_labels(places, header.shape[0])
    source = replace(_opened(header, labels, settings.value_range), pairing=headers.read_pairing(places, header.shape[0]))
    check_values(source, header.place, declared=settings.value_range is not None)
    small = header.key is not None or source.values.nbytes <= LARGEST_IN_MEMORY
    return source.in_full(_report(source, header.place)) if small else source


@dataclass(frozen=True, eq=False)
class Arrays:
    """A mapped array [N,*shape]; `load` casts everything but uint8 to float32."""

    values: np.ndarray
    shape: tuple[int, ...]
    value_range: Range | None
    labels: np.ndarray | None
    class_names: tuple[str, ...]
    in_memory: np.ndarray | None = None
    pairing: Pairing | None = None  # of arrays in an npz, which is always read in full

    @property
    def length(self) -> int:
        """Number of examples."""
        return len(self.values)

    def load(self, indices: np.ndarray) -> np.ndarray:
        """Examples [n,*shape] at `indices` [n], uint8 or float32."""
        return _cast(self.values[indices]).reshape(-1, *self.shape)

    def in_full(self, report: Report | None = None) -> MemorySource:
        """The same examples, read and kept."""
        values = np.ascontiguousarray(_cast(np.asarray(self.values)).reshape(-1, *self.shape))
        return MemorySource(values, self.value_range, self.labels, self.class_names, report, pairing=self.pairing)

    def fingerprint(self) -> str:
        """Digest over shape, dtype, labels and 64 blocks of 1 MiB, evenly spread over the file's examples."""
        per_example = max(1, self.values[0].nbytes)
        count = max(1, FINGERPRINT_BLOCK_BYTES // per_example)
        starts = np.linspace(0, max(0, self.length - count), FINGERPRINT_BLOCKS).astype(int)
        blocks = [np.asarray(self.values[start : start + count]) for start in np.unique(starts)]
        return digest(f"arrays {self.values.shape} {self.values.dtype}", self.labels, *blocks)


def _opened(header: headers.Header, labels: np.ndarray | None, declared: Range | None) -> Arrays:
    values = headers.load(header)
    value_range = (0.0, 255.0) if declared is None and header.dtype == np.uint8 else declared
    classes = () if labels is None else tuple(str(label) for label in range(labels.max() + 1))
    return Arrays(values, header.example_shape(), value_range, labels, classes)


def _report(source: Arrays, place: str) -> Report:
    """Extremes and labels, and what a discriminator would see at once."""
    least, most = min(float(part.min()) for _, part in _chunks(source)), max(float(part.max()) for _, part in _chunks(source))
    shape = "x".join(map(str, source.shape))
    line = f"{place}: {counted(source.length, 'example')} {shape} of {source.values.dtype}, values from {least:g} to {most:g}"
    counts = [] if source.labels is None else np.bincount(source.labels, minlength=len(source.class_names)).tolist()
    tree = {"place": place, "examples": source.length, "lowest": least, "highest": most, "labels": counts}
    return Report((line,), tuple(_doubts(source, counts)), tree)


def _doubts(source: Arrays, counts: list[int]) -> Iterator[str]:
    empty = [name for name, count in zip(source.class_names, counts, strict=False) if count == 0]
    if empty:
        yield f"classes without an example: {', '.join(empty[:10])}; classes are numbered from 0, without gaps"
    drawn = source.pairing is None  # what has targets is an input of a network, which nobody draws
    vectors = drawn and len(source.shape) == 1 and source.values.dtype.kind == "f"
    if vectors and all(np.isin(part, (0, 1)).all() for _, part in _chunks(source)):
        yield (
            "every value is exactly 0 or 1, which a smooth generator never reaches: a GAN's discriminator needs nothing else; "
            "add a little noise, or use a csv table with `categories`"
        )


def _cast(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # a float64 beyond float32 becomes infinite, which the check reports
        return values if values.dtype == np.uint8 else values.astype(np.float32)


def check_values(source: Arrays, place: str, *, declared: bool) -> None:
    """DataError for values that are not finite, or outside the declared range."""
    if source.values.dtype.kind == "f":
        _check_finite(source, place)
    if declared:
        _check_range(source, place)


def _chunks(source: Arrays) -> Iterator[tuple[int, np.ndarray]]:
    """Number of the first example, and values as `load` would give them."""
    count = max(1, CHUNK_VALUES // int(np.prod(source.shape)))
    for start in range(0, source.length, count):
        yield start, _cast(np.asarray(source.values[start : start + count]))


def _check_finite(source: Arrays, place: str) -> None:
    bad, first = 0, -1
    for start, values in _chunks(source):
        rows = ~np.isfinite(values).reshape(len(values), -1)
        if first < 0 and rows.any():
            first = start + int(np.argmax(rows.any(axis=1)))
        bad += int(rows.sum())
    if bad:
        raise DataError(
            f"{place} holds {counted(bad, 'value')} not finite (NaN or infinite), first in example {first}; clean it first"
        )


def _check_range(source: Arrays, place: str) -> None:
    low, high = (np.float32(end) for end in source.value_range or (0, 0))
    outside, least, most = 0, np.inf, -np.inf
    for _, values in _chunks(source):
        outside += int(((values < low) | (values > high)).sum())
        least, most = min(least, float(values.min())), max(most, float(values.max()))
    if outside:
        share = 100 * outside / source.values.size
        raise DataError(
            f"{place}: {share:.3g} % of the values lie outside value_range [{low:g}, {high:g}]; they go from {least:g} to "
            f"{most:g}. Declare the true range, or scale the values"
        )
