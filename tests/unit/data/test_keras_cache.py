"""The files that keras.datasets leaves behind: read, never fetched, never deleted, and never trusted to run code."""

from __future__ import annotations

import io
import pickle
import struct
import tarfile
from pathlib import Path

import numpy as np
import pytest

from gantrain.data import keras_cache as module
from gantrain.data.file_settings import KerasCache
from gantrain.data.keras_cache import build
from gantrain.errors import DataError

ROWS = np.arange(20 * 3072, dtype=np.int64).reshape(20, 3072) % 251


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """CIFAR with five times four pictures."""
    monkeypatch.setitem(module.LENGTHS, "cifar10", (20, 4))


def batch(start: int, stop: int) -> bytes:
    content = {b"data": ROWS[start:stop].astype(np.uint8), b"labels": [row % 10 for row in range(start, stop)]}
    return pickle.dumps(content, protocol=2)


def parts() -> dict[str, bytes]:
    return {f"data_batch_{number + 1}": batch(4 * number, 4 * number + 4) for number in range(5)}


def folder(root: Path) -> None:
    place = root / "cifar-10-batches-py-target" / "cifar-10-batches-py"
    place.mkdir(parents=True)
    for name, content in parts().items():
        (place / name).write_bytes(content)


def archive(root: Path) -> None:
    with tarfile.open(root / "cifar-10-batches-py.tar.gz", "w:gz") as file:
        for name, content in parts().items():
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))


@pytest.mark.parametrize("make", [folder, archive])
def test_cifar_is_read_from_the_folder_and_from_the_archive(tmp_path: Path, make):
    make(tmp_path)
    before = sorted(path.name for path in tmp_path.rglob("*"))
    source = build(KerasCache(dataset="cifar10", path="."), tmp_path)
    expected = ROWS.reshape(20, 3, 32, 32).transpose(0, 2, 3, 1)
    assert (source.in_memory == expected).all()
    assert source.labels.tolist() == [row % 10 for row in range(20)]
    assert source.class_names[3] == "cat"
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_the_users_folder_is_found_through_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "datasets").mkdir()
    folder(tmp_path / "datasets")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    assert build(KerasCache(dataset="cifar10"), Path()).length == 20


@pytest.mark.parametrize("dataset", ["mnist", "fashion_mnist", "cifar10", "cifar100"])
def test_a_set_that_is_not_there_is_not_fetched(tmp_path: Path, dataset):
    message = rf"{dataset} is not in .*gantrain never downloads: run .*keras\.datasets\.{dataset}\.load_data"
    with pytest.raises(DataError, match=message):
        KerasCache(dataset=dataset, path=".").peek(tmp_path)
    assert not list(tmp_path.iterdir())


class Evil:
    def __reduce__(self):
        return (print, ("owned",))


def test_a_pickle_that_wants_to_run_code_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder(tmp_path)
    place = tmp_path / "cifar-10-batches-py-target" / "cifar-10-batches-py" / "data_batch_3"
    place.write_bytes(pickle.dumps({b"data": Evil(), b"labels": []}, protocol=2))
    with pytest.raises(DataError, match=r"the file wants to run .*print, which no data set needs"):
        build(KerasCache(dataset="cifar10", path="."), tmp_path)
    assert "owned" not in capsys.readouterr().out


def test_a_file_that_is_cut_off_is_named_and_left_alone(tmp_path: Path):
    (tmp_path / "mnist.npz").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(DataError, match=r"mnist\.npz cannot be read"):
        build(KerasCache(dataset="mnist", path="."), tmp_path)
    assert (tmp_path / "mnist.npz").exists()


def test_another_set_under_the_name_is_refused(tmp_path: Path):
    np.savez(tmp_path / "mnist.npz", x_train=np.zeros((7, 28, 28), np.uint8), y_train=np.zeros(7, np.uint8))
    with pytest.raises(DataError, match=r"mnist\.npz holds uint8 \(7, 28, 28, 1\) and 7 labels; mnist has 60,000 pictures"):
        build(KerasCache(dataset="mnist", path="."), tmp_path)


def text(content: bytes) -> bytes:
    """A string as Python 2 pickled it."""
    return b"U" + bytes([len(content)]) + content if len(content) < 256 else b"T" + struct.pack("<i", len(content)) + content


def python_2_batch(rows: np.ndarray, labels: list[int]) -> bytes:
    """One file of CIFAR-10 in the very layout of the published ones: a dictionary that Python 2 pickled with protocol 2."""
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text(b"b") + b"\x87R"
    shape = b"M" + struct.pack("<H", len(rows)) + b"M" + struct.pack("<H", rows.shape[1]) + b"\x86"
    dtype = (
        b"cnumpy\ndtype\n" + text(b"u1") + b"K\x00K\x01\x87R(K\x03" + text(b"|") + b"NNN" + b"J\xff\xff\xff\xff" * 2 + b"K\x00tb"
    )
    state = b"(K\x01" + shape + dtype + b"\x89" + text(rows.tobytes()) + b"tb"
    numbers = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    names = b"](" + text(b"leptodactylus_pentadactylus_s_000004.png") * len(rows) + b"e"
    items = text(b"batch_label") + text(b"training batch 1 of 5") + text(b"labels") + numbers
    return b"\x80\x02}(" + items + text(b"data") + array + state + text(b"filenames") + names + b"u."


def test_batches_pickled_by_python_2_as_the_published_ones_are_read(tmp_path: Path):
    folder(tmp_path)
    place = tmp_path / "cifar-10-batches-py-target" / "cifar-10-batches-py"
    rows = ROWS.astype(np.uint8)
    for number in range(5):
        part = slice(4 * number, 4 * number + 4)
        (place / f"data_batch_{number + 1}").write_bytes(python_2_batch(rows[part], [row % 10 for row in range(20)][part]))
    source = build(KerasCache(dataset="cifar10", path="."), tmp_path)
    assert (source.in_memory == rows.reshape(20, 3, 32, 32).transpose(0, 2, 3, 1)).all()
    assert source.labels.tolist() == [row % 10 for row in range(20)]
