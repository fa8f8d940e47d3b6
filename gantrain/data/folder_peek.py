"""What is known of a folder of pictures without opening one (free of TensorFlow and Pillow)."""

from __future__ import annotations

from pathlib import Path

from gantrain.data import scan, scan_cache
from gantrain.data.catalog import ImageFolder
from gantrain.data.folder_labels import FolderLabels, labels_of
from gantrain.data.words import counted
from gantrain.interfaces import SourceFacts

SMALL_ENOUGH = 20_000  # files whose size and time of change are asked for, to use an earlier scan
CAUSE = -1  # place of the cause in a cached entry: the last fact


def facts(settings: ImageFolder, base_dir: Path) -> SourceFacts:
    """Facts of the `image_folder` source. Raises DataError."""
    found = scan.scan(base_dir / Path(settings.path).expanduser(), scan.QUICK)
    shape = (settings.height, settings.width, settings.channels)
    skip = settings.on_bad_file == "skip"
    if not found.complete:
        note = f"listed {found.entries:,} names in {found.root} and stopped; the rest is counted at the start of fit"
        classes = scan.class_names(found) if settings.labels == "folders" else ()
        known = shape if classes or not settings.labels else None
        return SourceFacts(known, None, len(classes) or None, (note,), bounded=True, class_names=classes)
    labels = labels_of(found, settings.labels, base_dir, skip=skip)
    bad = _bad_before(found)
    used = [name for name in found.names if not (skip and name in bad) and _labelled(labels, name)]
    classes = labels.classes(used)
    return SourceFacts(shape, len(used), len(classes) or None, _notes(bad), bounded=True, class_names=classes)


def _labelled(labels: FolderLabels, name: str) -> bool:
    return labels.by_name is None or name in labels.by_name


def _bad_before(found: scan.Scan) -> dict[str, str]:
    """Files that an earlier scan could not read and that have not changed since: name -> cause."""
    if len(found.names) > SMALL_ENOUGH:
        return {}
    entries = scan_cache.load(found.root)
    bad = {name: entry for name, entry in entries.items() if entry[1][CAUSE] is not None}
    return {name: entry[1][CAUSE] for name, entry in bad.items() if scan_cache.stamp(found.root / name) == entry[0]}


def _notes(bad: dict[str, str]) -> tuple[str, ...]:
    if not bad:
        return ()
    name, cause = next(iter(bad.items()))
    return (f"an earlier scan found {counted(len(bad), 'unreadable file')}, such as {scan.printable(name)}: {cause}",)
