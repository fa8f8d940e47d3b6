"""Rules about the place a run is written to: whether it can be, and whether there is room."""

# ruff: noqa: ARG001  every rule takes the spec and the facts

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from gantrain.interfaces import SourceFacts
from gantrain.spec.rule import ALL, Said, rule
from gantrain.spec.tasks import AnySpec

LITTLE_ROOM = 200_000_000  # bytes; a small DCGAN's three checkpoints take this much


def output_parent(spec: AnySpec) -> Path:
    """The directory that is there already and in which `output.dir` is or would be made."""
    path = Path(os.path.abspath(os.path.expanduser(spec.output.dir)))
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


@rule("output-unwritable", "error", ALL)
def output_unwritable(spec: AnySpec, facts: SourceFacts) -> Said:
    """A run that could not be written, found after hours of reading data otherwise."""
    parent = output_parent(spec)
    if not parent.is_dir():
        yield ("output", "dir"), f"{parent} is a file, so no run can be written to {spec.output.dir}; name a directory"
    elif not _takes_files(parent):
        yield ("output", "dir"), f"no run can be written to {spec.output.dir}: {parent} is not writable; name another directory"


def _takes_files(directory: Path) -> bool:
    """Tried with a file without a name, which leaves nothing behind: rights alone say nothing to root, or on odd file systems."""
    if not os.access(directory, os.W_OK | os.X_OK):
        return False
    try:
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


@rule("disk-space", "warning", ALL)
def disk_space(spec: AnySpec, facts: SourceFacts) -> Said:
    """A disk that is nearly full. With --deep the checkpoints' real size is compared."""
    parent = output_parent(spec)
    free = shutil.disk_usage(parent).free
    if free < LITTLE_ROOM:
        message = f"only {free / 1e6:.0f} MB are free where the run is written ({parent}): checkpoints would fill it"
        yield ("output", "dir"), f"{message}; make room, or name a directory on another disk"
