"""Checkpoints: a directory that appears whole or not at all, proves itself, and is restored exactly or refused.

step-00000500/  state.index, state.data-*   tensors by stable key (TensorFlow's bundle format without an object graph)
                spec.resolved.yaml          the spec that builds the nets
                manifest.json               format, step, facts for sampling, size and SHA-256 of each file
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from gantrain.errors import RunError
from gantrain.manifest import MANIFEST, DataFacts, FileFacts, Manifest
from gantrain.rundir.files import os_errors_explained, sync_file, sync_folder, temporary_sibling

SPEC = "spec.resolved.yaml"
STATE = "state"
_NAME = re.compile(r"step-(\d{8,})")


def save(folder: Path, step: int, variables: Mapping[str, tf.Variable], spec_yaml: str, data: DataFacts) -> Path:
    """Write `folder/step-NNNNNNNN` and return it. Raises RunError; what was there before is then untouched.

    A directory of that name that is already there is moved aside. A damaged one, which was passed over, stays there; a whole one,
    which a rollback went back to, is deleted when the new one is on the disk.
    """
    path = folder / f"step-{step:08d}"
    temporary = temporary_sibling(path)
    with os_errors_explained("write the checkpoint", path):
        try:
            temporary.mkdir()
            _write(temporary, step, variables, spec_yaml, data)
            aside = _make_room(path)
            temporary.rename(path)
            sync_folder(folder)
            if aside is not None and _is_whole(aside):
                shutil.rmtree(aside)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    return path


def _write(temporary: Path, step: int, variables: Mapping[str, tf.Variable], spec_yaml: str, data: DataFacts) -> None:
    keys = sorted(variables)
    try:
        tf.raw_ops.SaveV2(
            prefix=str(temporary / STATE),
            tensor_names=keys,
            shape_and_slices=[""] * len(keys),
            tensors=[variables[key].read_value() for key in keys],
        )
    except tf.errors.OpError as error:
        reason = error.message.split("; ")[-1].split(" [Op:")[0]  # the words of the system, without TensorFlow's around them
        raise RunError(f"cannot write a checkpoint in {temporary.parent}: {reason}; make room or check the disk") from error
    (temporary / SPEC).write_text(spec_yaml, encoding="utf-8")
    files = {path.name: _facts(path) for path in sorted(temporary.iterdir())}
    (temporary / MANIFEST).write_text(Manifest(step=step, data=data, files=files).to_json(), encoding="utf-8")
    for path in temporary.iterdir():
        sync_file(path)
    sync_folder(temporary)


def _facts(path: Path) -> FileFacts:
    with path.open("rb") as file:
        return FileFacts(bytes=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest())


def _make_room(path: Path) -> Path | None:
    """Where a directory of that name has gone; None if there was none."""
    number = 0
    aside = path
    while aside.exists():
        number += 1
        aside = path.with_name(f"replaced-{number}-{path.name}")
    if aside == path:
        return None
    path.rename(aside)
    return aside


def _is_whole(path: Path) -> bool:
    try:
        verify(path)
    except RunError:
        return False
    return True


def all_checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """Every (step, path) in a checkpoint folder, good or not, by number."""
    if not folder.is_dir():
        return []
    matches = [(_NAME.fullmatch(path.name), path) for path in folder.iterdir() if path.is_dir()]
    return sorted((int(match[1]), path) for match, path in matches if match)


def prune(folder: Path, keep_last: int, newest: int) -> None:
    """Delete all but `keep_last` of the checkpoints up to step `newest`, the one just written. Raises RunError.

    Later ones are damaged (the run fell back behind them); they neither count as kept nor are they deleted.
    """
    written = [path for step, path in all_checkpoints(folder) if step <= newest]
    for path in written[:-keep_last]:
        with os_errors_explained("delete the old checkpoint", path):
            shutil.rmtree(path)


def verify(path: Path) -> Manifest:
    """The manifest of a checkpoint whose files are all there and unchanged.

    Raises RunError that names the file and what is wrong with it.
    """
    if not path.is_dir():
        raise RunError(f"there is no checkpoint {path}; check the path")
    manifest = Manifest.load(path / MANIFEST)
    for name, expected in manifest.files.items():
        with os_errors_explained("read", path / name):
            found = _facts(path / name)
        if found.bytes != expected.bytes:
            raise RunError(f"{path / name} is damaged: it has {found.bytes} bytes, {expected.bytes} were written")
        if found.sha256 != expected.sha256:
            raise RunError(f"{path / name} is damaged: its contents changed after it was written (SHA-256 differs)")
    return manifest


def latest_good(folder: Path, warn: Callable[[str], None]) -> tuple[Path, Manifest] | None:
    """The newest checkpoint that proves itself; None if there is no checkpoint at all.

    Each damaged one that is passed over is told to `warn`. Raises RunError if there are checkpoints and none is good.
    """
    checkpoints = all_checkpoints(folder)
    for _, path in reversed(checkpoints):
        try:
            return path, verify(path)
        except RunError as error:
            warn(f"{error}; trying the checkpoint before it")
    if checkpoints:
        raise RunError(f"no checkpoint in {folder} is whole; restore one from a copy, or start a new run")
    return None


def restore(path: Path, variables: Mapping[str, tf.Variable]) -> None:
    """Set every variable from the checkpoint; names, shapes and dtypes must match exactly, in both directions.

    Raises RunError that lists the differences; no variable is changed then.
    """
    _assign(path, read(path), variables)


def restore_part(path: Path, variables: Mapping[str, tf.Variable], role: str) -> None:
    """As `restore`, for one net only: the tensors whose keys start with `role/`."""
    _assign(path, read(path, role + "/"), variables)


def _assign(path: Path, tensors: Mapping[str, np.ndarray], variables: Mapping[str, tf.Variable]) -> None:
    differences = _differences(tensors, variables)
    if differences:
        raise RunError(f"{path} does not fit this spec: {'; '.join(differences[:5])}" + _more(len(differences) - 5))
    for key, variable in variables.items():
        variable.assign(tensors[key])


def read(path: Path, prefix: str = "") -> dict[str, np.ndarray]:
    """Tensors of a checkpoint whose keys start with `prefix`. Raises RunError that names the checkpoint."""
    try:
        reader = tf.train.load_checkpoint(str(path / STATE))
        keys = sorted(key for key in reader.get_variable_to_shape_map() if key.startswith(prefix))
        return {key: np.asarray(reader.get_tensor(key)) for key in keys}
    except (tf.errors.OpError, IndexError, ValueError) as error:
        raise RunError(f"the tensors of {path} cannot be read: {error}; use an older checkpoint") from error


def _differences(tensors: Mapping[str, np.ndarray], variables: Mapping[str, Any]) -> list[str]:
    missing = [f"it lacks {key}" for key in variables if key not in tensors]
    unknown = [f"it has {key}, which the spec does not build" for key in tensors if key not in variables]
    other = [
        f"{key} is {_form(tensors[key])} there and {_form(variable)} here"
        for key, variable in variables.items()
        if key in tensors and _form(tensors[key]) != _form(variable)
    ]
    return [*missing, *unknown, *other]


def _form(value: Any) -> str:
    """Shape and dtype of an array or a variable, for comparing and for showing."""
    return f"{list(value.shape)} {tf.as_dtype(value.dtype).name}"


def _more(count: int) -> str:
    return f"; and {count} more" if count > 0 else ""
