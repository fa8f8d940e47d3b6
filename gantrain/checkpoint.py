"""Checkpoints: a directory that appears whole or not at all, proves itself, and is restored exactly or refused.

step-00000500/  state.index, state.data-*   tensors by stable key (TensorFlow's bundle format without an object graph)
                spec.resolved.yaml          the spec that builds the nets
                manifest.json               format, step, facts for sampling, size and SHA-256 of each file
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from gantrain.errors import RunError
from gantrain.manifest import MANIFEST, DataFacts, Manifest
from gantrain.rundir.files import os_errors_explained, sync_file, sync_folder, temporary_sibling
from gantrain.stored import SPEC, STATE, facts_of, verify


def snapshot(variables: Mapping[str, tf.Variable]) -> dict[str, np.ndarray]:
    """Values of now, copied to the host's memory: training may go on while they are written."""
    return {key: np.array(variable.read_value().numpy()) for key, variable in variables.items()}


def save(folder: Path, step: int, variables: Mapping[str, tf.Variable], spec_yaml: str, data: DataFacts) -> Path:
    """Write `folder/step-NNNNNNNN` and return it. Raises RunError; what was there before is then untouched."""
    return write(folder, step, snapshot(variables), spec_yaml, data)


def write(
    folder: Path, step: int, tensors: Mapping[str, np.ndarray], spec_yaml: str, data: DataFacts, interim: bool = False
) -> Path:
    """As `save`, of a snapshot; on any thread. `interim`: see `Manifest`.

    A directory of that name that is already there is moved aside. A damaged one, which was passed over, stays there; a whole one,
    which a rollback went back to, is deleted when the new one is on the disk.
    """
    path = folder / f"step-{step:08d}"
    temporary = temporary_sibling(path)
    with os_errors_explained("write the checkpoint", path):
        try:
            temporary.mkdir()
            _write_files(temporary, tensors, spec_yaml)
            _write_manifest(temporary, step, data, interim)
            aside = _make_room(path)
            temporary.rename(path)
            sync_folder(folder)
            if aside is not None and _is_whole(aside):
                shutil.rmtree(aside)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    return path


def _write_files(temporary: Path, tensors: Mapping[str, np.ndarray], spec_yaml: str) -> None:
    keys = sorted(tensors)
    try:
        with tf.device("CPU:0"):
            tf.raw_ops.SaveV2(
                prefix=str(temporary / STATE),
                tensor_names=keys,
                shape_and_slices=[""] * len(keys),
                tensors=[tf.constant(tensors[key]) for key in keys],
            )
    except tf.errors.OpError as error:
        reason = error.message.split("; ")[-1].split(" [Op:")[0]  # the words of the system, without TensorFlow's around them
        raise RunError(f"cannot write a checkpoint in {temporary.parent}: {reason}; make room or check the disk") from error
    (temporary / SPEC).write_text(spec_yaml, encoding="utf-8")


def _write_manifest(temporary: Path, step: int, data: DataFacts, interim: bool) -> None:
    files = {path.name: facts_of(path) for path in sorted(temporary.iterdir())}
    manifest = Manifest(step=step, data=data, files=files, interim=interim)
    (temporary / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    for path in temporary.iterdir():
        sync_file(path)
    sync_folder(temporary)


def _make_room(path: Path) -> Path | None:
    """Where a directory of that name has gone; None if there was none."""
    number = 0
    aside = path
    while os.path.lexists(aside):  # also a link that leads nowhere
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


def restore(path: Path, variables: Mapping[str, tf.Variable]) -> None:
    """Set every variable from the checkpoint; names, shapes and dtypes must match exactly, in both directions.

    Raises RunError that lists the differences; no variable is changed then.
    """
    _assign(path, variables, "")


def restore_part(path: Path, variables: Mapping[str, tf.Variable], role: str) -> None:
    """As `restore`, for one net only: the tensors whose keys start with `role/`."""
    _assign(path, variables, role + "/")


def _assign(path: Path, variables: Mapping[str, tf.Variable], prefix: str) -> None:
    with _readable(path) as reader:
        differences = _differences(_forms(reader, prefix), variables)  # before a tensor is read: its size is then known
    if differences:
        raise RunError(f"{path} does not fit this spec: {'; '.join(differences[:5])}" + _more(len(differences) - 5))
    tensors = read(path, prefix)
    for key, variable in variables.items():
        variable.assign(tensors[key])


def read(path: Path, prefix: str = "") -> dict[str, np.ndarray]:
    """Tensors of a checkpoint whose keys start with `prefix`. Raises RunError that names the checkpoint."""
    with _readable(path) as reader:
        return {key: np.asarray(reader.get_tensor(key)) for key in _forms(reader, prefix)}


@contextmanager
def _readable(path: Path) -> Iterator[Any]:
    try:
        yield tf.train.load_checkpoint(str(path / STATE))
    except (tf.errors.OpError, IndexError, ValueError, MemoryError) as error:
        raise RunError(f"the tensors of {path} cannot be read: {error}; use an older checkpoint") from error


def _forms(reader: Any, prefix: str) -> dict[str, str]:
    """Shape and dtype of each tensor whose key starts with `prefix`, for comparing and for showing."""
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    return {key: _form(shapes[key], dtypes[key]) for key in sorted(shapes) if key.startswith(prefix)}


def _differences(there: Mapping[str, str], variables: Mapping[str, Any]) -> list[str]:
    here = {key: _form(variable.shape, variable.dtype) for key, variable in variables.items()}
    missing = [f"it lacks {key}" for key in here if key not in there]
    unknown = [f"it has {key}, which the spec does not build" for key in there if key not in here]
    other = [f"{key} is {there[key]} there and {here[key]} here" for key in here if there.get(key, here[key]) != here[key]]
    return [*missing, *unknown, *other]


def _form(shape: Any, dtype: Any) -> str:
    return f"{list(shape)} {tf.as_dtype(dtype).name}"


def _more(count: int) -> str:
    return f"; and {count} more" if count > 0 else ""
