"""The files that keras.datasets leaves behind: read, never fetched, never deleted, and never trusted to run code."""

from __future__ import annotations

import io
import pickle
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
