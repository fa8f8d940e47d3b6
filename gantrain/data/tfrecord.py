"""Examples in TFRecord files, in any order: an index of offsets is made at the start, and every checksum is compared."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gantrain.data import records
from gantrain.data.file_settings import TfRecord as Settings
from gantrain.data.labels_join import sorted_labels
from gantrain.data.memory import LARGEST_IN_MEMORY, MemorySource, digest
from gantrain.data.progress import advance
from gantrain.data.report import Report
from gantrain.data.survey import each
from gantrain.data.tfrecord_reader import Reader, gives_bytes, read_features
from gantrain.data.words import counted
from gantrain.errors import DataError
from gantrain.interfaces import Range, SourceFacts

PEEKED_BYTES = 2 * 2**20  # files up to this size are read in full by the static check where labels are wanted
PEEKED_SEC = 0.15
PATTERN = "*.tfrecord*"


def facts(settings: Settings, base_dir: Path) -> SourceFacts:
    """Facts of the `tfrecord` source. Raises DataError."""
    files, shape = _files(settings, base_dir), tuple(settings.shape)
    bounded = settings.value_range is not None or gives_bytes(settings)
    if sum(path.stat().st_size for path in files) <= PEEKED_BYTES:
        source = build(settings, base_dir)
        classes = len(source.class_names) or None
        return SourceFacts(shape, source.length, classes, bounded=bounded, class_names=source.class_names)
    counted = _counted(files)
    notes = () if counted is not None else ("the records are counted at the start of fit",)
    return SourceFacts(None if settings.label else shape, counted, None, notes, bounded=bounded)


def _counted(files: Sequence[Path]) -> int | None:
    started, count = time.monotonic(), 0
    for path in files:
        for _ in records.places(path):
            count += 1
            if count % 100 == 0 and time.monotonic() - started > PEEKED_SEC:
                return None
    return count


def build(settings: Settings, base_dir: Path) -> TfRecords | MemorySource:
    """Index all records, check them, decode them where they fit in memory. Raises DataError that names file and record."""
    files = _files(settings, base_dir)
    found = [place for path in files for place in _checked(path)]
    if not found:
        raise DataError(f"{files[0]} holds no records; give files that TFRecordWriter wrote")
    reader = Reader.of(settings)
    first = reader.example(found[0], 0)
    small = len(found) * first.nbytes <= LARGEST_IN_MEMORY
    values = np.empty((len(found), *reader.shape), first.dtype) if small else None
    labels, classes = _read_all(reader, found, values)
    report = _report(files, found, classes, labels)
    if values is not None:
        return MemorySource(values, reader.value_range, labels, classes, report)
    return TfRecords(reader, found, labels, classes, report)


@dataclass(frozen=True, eq=False)
class TfRecords:
    """Records at known places, read and decoded when they are needed."""

    reader: Reader
    places: list[records.Place]
    labels: np.ndarray | None
    class_names: tuple[str, ...]
    report: Report
    in_memory: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one example."""
        return self.reader.shape

    @property
    def value_range(self) -> Range | None:
        """Of the values."""
        return self.reader.value_range

    @property
    def length(self) -> int:
        """Number of records."""
        return len(self.places)

    def load(self, indices: np.ndarray) -> np.ndarray:
        """Examples [n,*shape] at `indices` [n]."""
        return np.stack([self.reader.example(self.places[index], int(index)) for index in indices])

    def fingerprint(self) -> str:
        """Digest over file names, places, reader and labels."""
        names = sorted({place.path.name for place in self.places})
        places = np.array([(place.offset, place.length) for place in self.places], np.int64)
        return digest("tfrecord", repr(self.reader), *names, places, self.labels)


def _files(settings: Settings, base_dir: Path) -> list[Path]:
    path = base_dir / Path(settings.path).expanduser()
    if path.is_dir():
        found = sorted(file for file in path.glob(PATTERN) if file.is_file() and not file.name.startswith("."))
        if not found:
            raise DataError(f"folder {path} holds no {PATTERN} files; correct data.source.path")
        return found
    if not path.exists():
        raise DataError(
            f"file {path} does not exist; correct data.source.path (relative paths start at the config file's folder)"
        )
    return [path]


def _checked(path: Path) -> list[records.Place]:
    found = list(records.places(path))
    for done in records.check(found) if found else ():
        advance(f"checking {path.name}", done, len(found))
    return found


def _read_all(reader: Reader, found: list[records.Place], values: np.ndarray | None) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Look at every record once: its example goes into `values`, its label is collected."""

    def job(number: int) -> str:
        where = f"{found[number].path}: record {number}"
        parts = read_features(found[number], where)
        example = reader.value(parts, where)
        if values is not None:
            values[number] = example
        return "" if reader.label is None else reader.text_label(parts, where)

    texts = [text for _, text in each(job, range(len(found)), "decoding records")]
    if reader.label is None:
        return None, ()
    classes = sorted_labels(texts)
    number = {name: index for index, name in enumerate(classes)}
    return np.array([number[text] for text in texts], np.int64), classes


def _report(files: Sequence[Path], found: list[records.Place], classes: tuple[str, ...], labels: np.ndarray | None) -> Report:
    counts = {} if labels is None else dict(zip(classes, np.bincount(labels, minlength=len(classes)).tolist(), strict=True))
    shown = ", ".join(f"{name} {count:,}" for name, count in list(counts.items())[:10])
    lines = [
        f"{counted(len(found), 'record')} in {counted(len(files), 'TFRecord file')}, every checksum is right",
        *([f"  labels     {shown}"] if counts else []),
    ]
    return Report(tuple(lines), (), {"files": [str(path) for path in files], "records": len(found), "labels": counts or None})
