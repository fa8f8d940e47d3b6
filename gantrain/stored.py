"""Checkpoints on disk, without TensorFlow: which there are, which prove themselves, and which belong to a run."""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
from collections.abc import Callable, Collection
from pathlib import Path

from gantrain.errors import RunError
from gantrain.manifest import MANIFEST, FileFacts, Manifest
from gantrain.rundir.files import os_errors_explained, temporary_sibling

SPEC = "spec.resolved.yaml"
STATE = "state"
NEEDED = (SPEC, f"{STATE}.index")
_NAME = re.compile(r"step-([0-9]{8,18})")


def all_checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """Every (step, path) in a checkpoint folder, good or not, by number. Raises RunError for a folder that cannot be read."""
    if not folder.is_dir():
        return []
    with os_errors_explained("read", folder):
        matches = [(_NAME.fullmatch(path.name), path) for path in folder.iterdir() if path.is_dir()]
    return sorted((int(match[1]), path) for match, path in matches if match)


def verify(path: Path) -> Manifest:
    """The manifest of a checkpoint whose files are all there and unchanged.

    Raises RunError that names the file and what is wrong with it.
    """
    if not path.is_dir():
        raise RunError(f"there is no checkpoint {path}; check the path")
    manifest = Manifest.load(path / MANIFEST)
    named = _NAME.fullmatch(path.name)
    if named and int(named[1]) != manifest.step:
        raise RunError(f"{path / MANIFEST} is that of another checkpoint: it says step {manifest.step}")
    for name in NEEDED:
        if name not in manifest.files:
            raise RunError(f"{path / MANIFEST} is damaged: it does not name {name}")
    for name, expected in manifest.files.items():
        _prove(path / name, expected)
    return manifest


def _prove(path: Path, expected: FileFacts) -> None:
    with os_errors_explained("read", path):
        facts = path.stat()
        if stat.S_ISDIR(facts.st_mode):
            raise IsADirectoryError(21, "a directory is in the place of a file")
        if not stat.S_ISREG(facts.st_mode):  # reading a pipe or a device may never end
            raise RunError(f"{path} is damaged: it is not a regular file")
        if facts.st_size != expected.bytes:
            raise RunError(f"{path} is damaged: it has {facts.st_size} bytes, {expected.bytes} were written")
        if facts_of(path) != expected:
            raise RunError(f"{path} is damaged: its contents changed after it was written (SHA-256 differs)")


def facts_of(path: Path) -> FileFacts:
    """Size and digest of a file. Raises OSError."""
    with path.open("rb") as file:
        return FileFacts(bytes=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest())


def accept_all(path: Path, manifest: Manifest) -> None:
    """For `latest_good`: any checkpoint that proves itself."""


def latest_good(
    folder: Path, warn: Callable[[str], None], accept: Callable[[Path, Manifest], None] = accept_all
) -> tuple[Path, Manifest] | None:
    """The newest checkpoint that proves itself and that `accept` does not refuse by a RunError; None if there is none at all.

    Each one that is passed over is told to `warn`. Raises RunError if there are checkpoints and none can be used.
    """
    checkpoints = all_checkpoints(folder)
    for index, (_, path) in reversed(list(enumerate(checkpoints))):
        try:
            manifest = verify(path)
            accept(path, manifest)
        except RunError as error:
            warn(f"{error}; " + ("trying the checkpoint before it" if index else "there is no checkpoint before it"))
        else:
            return path, manifest
    if checkpoints:
        raise RunError(f"no checkpoint in {folder} is whole and of this run; restore one from a copy, or start a new run")
    return None


def interim_steps(folder: Path) -> set[int]:
    """Steps of the checkpoints that gentle stops wrote between two regular ones. Raises RunError."""
    return {step for step, path in all_checkpoints(folder) if _is_interim(path)}


def _is_interim(path: Path) -> bool:
    try:
        return Manifest.load(path / MANIFEST).interim
    except RunError:
        return False  # damaged: told by those that read it


def prune(folder: Path, keep_last: int, newest: int, spared: Collection[int] = (), interim: Collection[int] = ()) -> None:
    """Delete all but `keep_last` of the checkpoints up to step `newest`, the one just written, and those `spared` by step.

    Those that are `interim` do not count as kept, and only the newest checkpoint may be one: what is left in the end is the same
    whether the run was stopped or not. Later ones than `newest` are damaged (the run fell back behind them); they neither count
    as kept nor are they deleted. Raises RunError.
    """
    written = [(step, path) for step, path in all_checkpoints(folder) if step <= newest]
    regular = [step for step, _ in written if step not in interim]
    kept = {newest, *regular[-keep_last:], *spared}
    for step, path in written:
        if step not in kept:
            _delete(path)


def _delete(path: Path) -> None:
    """Out of sight at once, then file by file: nobody ever sees half a checkpoint."""
    with os_errors_explained("delete the old checkpoint", path):
        hidden = temporary_sibling(path)
        path.rename(hidden)
        hidden.unlink() if hidden.is_symlink() else shutil.rmtree(hidden)  # a link's target is not ours
