"""Pictures in a folder: scanned in full before the first step, kept decoded where that fits, read when needed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gantrain.data import decode, folder_report, scan
from gantrain.data.catalog import ImageFolder as Settings
from gantrain.data.deep import range_of
from gantrain.data.folder_labels import FolderLabels, labels_of
from gantrain.data.framing import Frame
from gantrain.data.inspect import PictureFacts, inspect
from gantrain.data.memory import LARGEST_IN_MEMORY, MemorySource, digest
from gantrain.data.report import Report
from gantrain.data.scan import printable
from gantrain.data.survey import Survey, each, survey
from gantrain.data.traced import TracedFiles, roads_of
from gantrain.data.words import counted
from gantrain.errors import DataError
from gantrain.interfaces import Range

SHOWN = 5  # bad files named in one message
FRAMING_WORDS = {"crop": "cropped", "pad": "padded", "stretch": "stretched"}
CHANNEL_WORDS = {1: "gray", 3: "RGB", 4: "RGBA"}


def build(settings: Settings, base_dir: Path) -> ImageFolder | MemorySource:
    """Scan the folder and look at every file before the first step. Raises DataError that names the bad files."""
    found = scan.scan(base_dir / Path(settings.path).expanduser())
    skip, frame = settings.on_bad_file == "skip", Frame.of(settings)
    labels = labels_of(found, settings.labels, base_dir, skip=skip)
    seen = survey(found, frame, LARGEST_IN_MEMORY)
    used = _usable(seen, labels, frame, skip=skip)
    frame = replace(frame, deep=all(item.bits > 8 for item in used.facts))
    report = folder_report.report(_findings(found, seen, used, labels, frame))
    folder = ImageFolder(
        root=found.root,
        names=used.names,
        sizes=used.sizes,
        frame=frame,
        labels=labels.numbers(used.names),
        class_names=labels.classes(used.names),
        report=report,
    )
    pictures = _deep_pictures(folder) if frame.deep else used.pictures
    if pictures is None:
        return replace(folder, traced=_traced(folder, used))
    return MemorySource(pictures, folder.value_range, folder.labels, folder.class_names, report)


def _deep_pictures(folder: ImageFolder) -> np.ndarray | None:
    """All pictures [N,H,W,C] float32, if they fit into memory: the scan, which did not know yet, decoded them to 8 bits."""
    if 4 * folder.length * int(np.prod(folder.shape)) > LARGEST_IN_MEMORY:
        return None
    pictures = np.empty((folder.length, *folder.shape), np.float32)
    for index, picture in each(lambda index: folder.load(np.array([index]))[0], range(folder.length), "reading in full depth"):
        pictures[index] = picture
    return pictures


def _traced(folder: ImageFolder, used: Survey) -> TracedFiles | None:
    found = roads_of(used.facts, folder.frame)
    if found is None:
        return None
    paths = tuple(str(folder.root / name) for name in folder.names)
    return TracedFiles(paths, *found, folder.frame, folder.load, folder.recheck)


@dataclass(frozen=True, eq=False)
class ImageFolder:
    """Pictures `names` under `root`, read when they are needed (by Pillow), uint8 (float32 in a deep frame) [n,H,W,C]."""

    root: Path
    names: tuple[str, ...]
    sizes: tuple[int, ...]  # bytes of each file
    frame: Frame
    labels: np.ndarray | None
    class_names: tuple[str, ...]
    report: Report | None = None
    in_memory: np.ndarray | None = None
    traced: TracedFiles | None = None  # the same pictures by a faster road, where there is one

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, W, C)."""
        return self.frame.shape

    @property
    def value_range(self) -> Range:
        """Of what `load` gives: bytes, or the units of deep pictures."""
        return range_of(self.frame) if self.frame.deep else (0.0, 255.0)

    @property
    def length(self) -> int:
        """Number of pictures."""
        return len(self.names)

    def load(self, indices: np.ndarray) -> np.ndarray:
        """Pictures [n,H,W,C] at `indices` [n]."""
        return np.stack([decode.decode(self.root / self.names[index], self.frame) for index in indices])

    def recheck(self) -> None:
        """DataError that names the files which have become unreadable since the scan; nothing if all is well."""
        for index, cause in each(self._cause_now, range(self.length), "looking again"):
            if cause is not None:
                raise DataError(f"{printable(str(self.root / self.names[index]))}: {cause}")

    def _cause_now(self, index: int) -> str | None:
        path = self.root / self.names[index]
        cause = inspect(path).cause
        if cause is None and path.stat().st_size != self.sizes[index]:
            return f"has changed since the scan ({self.sizes[index]:,} bytes then); start again"
        return cause

    def fingerprint(self) -> str:
        """Digest over names, file sizes, frame and labels."""
        return digest("image_folder", repr(self.frame), *self.names, np.array(self.sizes, np.int64), self.labels)


def _usable(seen: Survey, labels: FolderLabels, frame: Frame, *, skip: bool) -> Survey:
    """The pictures to train on. Raises DataError for bad ones unless they may be skipped, and if none is left."""
    causes = [item.cause or _cause_in_frame(item, frame) for item in seen.facts]
    bad = [(name, cause) for name, cause in zip(seen.names, causes, strict=True) if cause is not None]
    if bad and not skip:
        raise DataError(_listed(seen.root, bad, len(seen.names)))
    has_label = [labels.by_name is None or name in labels.by_name for name in seen.names]
    used = seen.keep([cause is None and labelled for cause, labelled in zip(causes, has_label, strict=True)])
    if not used.names:
        raise DataError(_listed(seen.root, bad, len(seen.names)))
    return used


def _cause_in_frame(facts: PictureFacts, frame: Frame) -> str | None:
    """Why a sound picture cannot be brought into this frame."""
    if facts.alpha == "transparent" and frame.alpha == "error":
        return "has transparent pixels, and data.source.alpha is error; write alpha: composite, or flatten it"
    if facts.bits <= 8:
        return None
    extent = f"holds {facts.bits}-bit values from {facts.low:g} to {facts.high:g}"
    if frame.value_range is None:
        remedy = "which have no natural range; declare data.source.value_range: [lowest, highest]"
        return f"{extent}, {remedy}" if facts.bits > 16 else None
    low, high = frame.value_range
    inside = low <= facts.low and facts.high <= high
    return None if inside else f"{extent}, outside value_range [{low:g}, {high:g}]; declare the true range"


def _listed(root: Path, bad: Sequence[tuple[str, str]], total: int) -> str:
    lines = [f"{printable(str(root / name))}: {cause}" for name, cause in bad]
    listed = "\n  ".join(lines[:SHOWN]) + (f"\n  and {len(bad) - SHOWN:,} more" if len(bad) > SHOWN else "")
    share = f"{len(bad):,} of {counted(total, 'picture')}"
    return f"{share} cannot be used; replace or remove them, or write on_bad_file: skip:\n  {listed}"


def _findings(found: scan.Scan, seen: Survey, used: Survey, labels: FolderLabels, frame: Frame) -> folder_report.Findings:
    colour = "#{:02x}{:02x}{:02x}".format(*frame.background)
    kept = "alpha is kept, hidden colours are removed" if frame.alpha == "keep" else f"composited over {colour}"
    depth = ", all values kept in {:g}..{:g}".format(*range_of(frame)) if frame.deep else ""
    return folder_report.Findings(
        found=found,
        survey=seen,
        used=used,
        frame_words=f"{frame.height}x{frame.width} {CHANNEL_WORDS[frame.channels]}, {FRAMING_WORDS[frame.framing]}{depth}",
        transparency=kept,
        ranged=frame.value_range is not None,
        labels=labels.numbers(used.names),
        class_names=labels.classes(used.names),
        notes=labels.notes,
    )
