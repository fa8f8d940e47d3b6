"""Files of a stranger: nothing in them runs, is written outside, fills the memory or hangs."""

from __future__ import annotations

import io
import os
import pickle
import struct
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gantrain import stored
from gantrain.data.arrays import build
from gantrain.data.catalog import Arrays
from gantrain.errors import DataError, GantrainError, RunError
from gantrain.inspection import inspect
from gantrain.manifest import MANIFEST, DataFacts, FileFacts, Manifest
from gantrain.rundir.directory import RunDirectory
from gantrain.rundir.record import RunRecord

FACTS = DataFacts(shape=(2,), dtype="float32", source_range=None, network_range=None, fingerprint="f")


class Bomb:
    """Runs when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def checkpoint_of(folder: Path, files: dict[str, FileFacts]) -> Path:
    folder.mkdir(exist_ok=True)
    manifest = Manifest(step=1, data=FACTS, files={})
    tree = manifest.model_copy(update={"files": files})
    (folder / MANIFEST).write_text(tree.to_json())
    return folder


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "a/b", ".", "..", "", "a\x00b", ".hidden", "-rf"])
def test_a_manifest_names_files_of_its_own_directory_only(tmp_path, name):
    path = checkpoint_of(tmp_path / "step-00000001", {name: FileFacts(bytes=0, sha256="0")})
    with pytest.raises(RunError, match="is not the name of a file of a checkpoint"):
        stored.verify(path)


def in_time(function, seconds: float = 10.0):
    """What it returns or raises, or a failure if it hangs."""
    result: list[object] = []

    def call():
        try:
            result.append(function())
        except GantrainError as error:
            result.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    assert result, "hangs"
    return result[0]


@pytest.mark.parametrize("name", [MANIFEST, "state.index"])
@pytest.mark.parametrize("kind", ["pipe", "endless"])
def test_a_pipe_or_a_device_in_a_checkpoint_does_not_hang(tmp_path, name, kind):
    facts = FileFacts(bytes=10**9, sha256="0")
    path = checkpoint_of(tmp_path / "step-00000001", {"state.index": facts, "spec.resolved.yaml": facts})
    (path / "spec.resolved.yaml").unlink(missing_ok=True)
    (path / name).unlink(missing_ok=True)
    os.mkfifo(path / name) if kind == "pipe" else (path / name).symlink_to("/dev/zero")
    error = in_time(lambda: stored.verify(path))
    assert isinstance(error, RunError)
    assert name in str(error)


def test_pipes_in_the_place_of_every_file_of_a_run_do_not_hang_fsck(tmp_path):
    for name in ("run.json", "spec.yaml", "spec.resolved.yaml", "metrics.jsonl", "log.txt", "scan.json", ".proofs.jsonl"):
        os.mkfifo(tmp_path / name)
    findings = in_time(lambda: inspect(RunDirectory(tmp_path)))
    problems = {finding.path.name for finding in findings if finding.problem}
    assert {"run.json", "spec.resolved.yaml", "metrics.jsonl", "scan.json", ".proofs.jsonl"} <= problems


@pytest.mark.parametrize("text", ["[" * 200_000, '{"step": ' + "9" * 200_000 + "}", '{"a":' * 50_000])
def test_json_bombs_are_damage(tmp_path, text):
    path = tmp_path / MANIFEST
    path.write_text(text)
    for load in (Manifest.load, RunRecord.load):
        error = in_time(lambda load=load: load(path))
        assert isinstance(error, RunError)
        assert str(path) in str(error)


def test_a_huge_json_file_is_not_read_into_memory(tmp_path):
    path = tmp_path / "run.json"
    with path.open("wb") as file:
        file.truncate(10 * 2**30)  # sparse
    with pytest.raises(RunError, match="is larger than"):
        RunRecord.load(path)


def npy(header: dict[str, object], data: bytes = b"") -> bytes:
    text = (repr(header) + "\n").encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


HEADERS = {
    "objects": ({"descr": "|O", "fortran_order": False, "shape": (1,)}, True),
    "a terabyte": ({"descr": "<f4", "fortran_order": False, "shape": (10**12 // 4,)}, False),
    "beyond all numbers": ({"descr": "<f4", "fortran_order": False, "shape": (2**62, 2**62)}, False),
    "negative": ({"descr": "<f4", "fortran_order": False, "shape": (-4, 2)}, False),
}


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("form", ["npy", "npz"])
def test_arrays_that_run_code_or_claim_to_be_huge_are_refused(tmp_path, name, form):
    header, pickled = HEADERS[name]
    mark = tmp_path / "ran"
    data = npy(header, pickle.dumps(np.array([Bomb(mark)], object)) if pickled else b"\x00" * 64)
    path = tmp_path / f"x.{form}"
    if form == "npy":
        path.write_bytes(data)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x.npy", data)
    error = in_time(lambda: build(Arrays(path=path.name), tmp_path))
    assert isinstance(error, DataError)
    assert str(path) in str(error)
    assert not mark.exists()


def test_an_archive_that_unpacks_to_a_thousand_times_its_size_is_not_unpacked(tmp_path):
    path, buffer = tmp_path / "x.npz", io.BytesIO(npy({"descr": "|u1", "fortran_order": False, "shape": (8,)}, b"\x00" * 8))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", buffer.getvalue() + b"\x00" * 10**8)  # more than its header says
    error = in_time(lambda: build(Arrays(path=path.name), tmp_path))
    assert isinstance(error, DataError) or error.in_memory.nbytes == 8
