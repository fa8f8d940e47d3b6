"""One run's directory: where each file of it lies, how it is made, and which runs are left to continue."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from gantrain.errors import RunError
from gantrain.rundir.files import is_temporary, os_errors_explained, remove_leftovers, sync_folder
from gantrain.rundir.links import refuse_links, unshare
from gantrain.rundir.lock import LOCK_NAME, is_locked
from gantrain.rundir.proofs import PROOFS_NAME
from gantrain.rundir.record import RunRecord

_OURS = frozenset(
    {
        "spec.yaml",
        "spec.resolved.yaml",
        "run.json",
        "log.txt",
        "metrics.jsonl",
        "scan.json",
        "samples",
        "checkpoints",
        "plugins",
        LOCK_NAME,
        PROOFS_NAME,
    }
)


@dataclass(frozen=True)
class RunDirectory:
    """The layout of one run. Make it with `create_numbered`, `open_or_create` or `open_existing`."""

    path: Path

    @classmethod
    def create_numbered(cls, parent: Path, name: str) -> RunDirectory:
        """Make `parent/name-001`, or the number after the highest one there; two processes never share one. Raises RunError."""
        with os_errors_explained("create the directory", parent):
            parent.mkdir(parents=True, exist_ok=True)
        number = 1 + max(_numbers(parent, name), default=0)
        while True:
            path = parent / f"{name}-{number:03d}"
            with os_errors_explained("create the directory", path):
                try:
                    path.mkdir()
                except FileExistsError:  # another process was faster
                    number += 1
                    continue
                sync_folder(parent)
            return cls(path)._with_folders()

    @classmethod
    def open_or_create(cls, path: Path) -> RunDirectory:
        """The run at `path`, made if missing. Raises RunError also for a directory that holds files which are not ours."""
        with os_errors_explained("create the directory", path):
            path.mkdir(parents=True, exist_ok=True)
            names = sorted(entry.name for entry in path.iterdir())
        foreign = [name for name in names if name not in _OURS and not is_temporary(name)]
        if foreign and "run.json" not in names and not cls(path)._has_checkpoints():
            raise RunError(f"{path} is not a run directory (it holds {foreign[0]}); give a new name or an empty directory")
        return cls(path)._with_folders()

    @classmethod
    def open_existing(cls, path: Path) -> RunDirectory:
        """The run at `path`. Raises RunError if there is none."""
        if not path.is_dir():
            raise RunError(f"there is no run directory {path}; check the path")
        if not (path / "run.json").is_file() and not cls(path)._has_checkpoints():
            raise RunError(f"{path} is not a run directory: it has no run.json; give the directory that `gantrain fit` made")
        return cls(path)

    @property
    def name(self) -> str:
        """Last part of the path, such as quickstart-001."""
        return self.path.name

    @property
    def checkpoints(self) -> Path:
        """Directory of checkpoints, one directory each."""
        return self.path / "checkpoints"

    @property
    def samples(self) -> Path:
        """Directory of the pictures drawn on the way."""
        return self.path / "samples"

    @property
    def metrics_path(self) -> Path:
        """Numbers of the run, one JSON object per line."""
        return self.path / "metrics.jsonl"

    @property
    def run_json(self) -> Path:
        """Facts of the run, see `RunRecord`."""
        return self.path / "run.json"

    @property
    def spec_path(self) -> Path:
        """The user's YAML file as it was."""
        return self.path / "spec.yaml"

    @property
    def resolved_path(self) -> Path:
        """The spec with every default written out."""
        return self.path / "spec.resolved.yaml"

    @property
    def scan_path(self) -> Path:
        """What the data was found to be."""
        return self.path / "scan.json"

    @property
    def log_path(self) -> Path:
        """What was said to the user."""
        return self.path / "log.txt"

    def tidy(self) -> list[Path]:
        """Remove what crashed writers of this host left half-written, nothing else; returns it. Call it under the lock."""
        folders = [folder for folder in (self.path, self.checkpoints, self.samples) if folder.is_dir()]
        return [path for folder in folders for path in remove_leftovers(folder)]

    def _has_checkpoints(self) -> bool:
        """A run whose run.json was lost is still one."""
        return self.checkpoints.is_dir() and any(self.checkpoints.glob("step-*/manifest.json"))

    def places(self) -> list[Path]:
        """What a run writes to outside its checkpoints, as far as it is there, in order."""
        with os_errors_explained("read", self.samples):
            pictures = sorted(self.samples.iterdir()) if self.samples.is_dir() and not self.samples.is_symlink() else []
        with os_errors_explained("read", self.path):
            return [*(self.path / name for name in sorted(_OURS) if os.path.lexists(self.path / name)), *pictures]

    def unshare(self) -> None:
        """Files that grow get a body of their own where a hard-linked copy shares it. Call it under the lock. Raises RunError."""
        unshare([self.metrics_path, self.log_path, self.path / PROOFS_NAME])

    def _with_folders(self) -> RunDirectory:
        if not _is_text(self.path):
            raise RunError(f"the name of {self.path} is not UTF-8, and TensorFlow writes nowhere else; give another name")
        refuse_links(self.places())
        for folder in (self.checkpoints, self.samples):
            with os_errors_explained("create the directory", folder):
                folder.mkdir(exist_ok=True)
        return self


def _is_text(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:  # bytes that Python keeps as surrogates
        return False
    return True


def unfinished_runs(parent: Path, name: str, spec_hash: str) -> list[Path]:
    """Runs `parent/name-NNN` of the same spec that ended early and that nobody is running now, the newest first.

    It serves a hint: a run whose run.json is missing or damaged is left out, not an error.
    """
    paths = [parent / f"{name}-{number:03d}" for number in sorted(_numbers(parent, name), reverse=True)]
    return [path for path in paths if _is_unfinished(path, spec_hash) and not is_locked(path)]


def _is_unfinished(path: Path, spec_hash: str) -> bool:
    try:
        record = RunRecord.load(path / "run.json")
    except RunError:
        return False
    return record.status != "finished" and record.spec_hash == spec_hash


def _numbers(parent: Path, name: str) -> list[int]:
    pattern = re.compile(re.escape(name) + r"-(\d{3,9})")
    try:
        matches = [pattern.fullmatch(entry.name) for entry in parent.iterdir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(f"cannot read the directory {parent}: {error.strerror}; choose another output.dir") from error
    return [int(match[1]) for match in matches if match]
