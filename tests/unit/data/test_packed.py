"""A packed file is the source it was made from, or it is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain import registry
from gantrain.data import packed, packing
from gantrain.data.catalog import ImageFolder
from gantrain.data.file_settings import Csv, Packed
from gantrain.errors import DataError

RANDOM = np.random.default_rng(0)


@pytest.fixture
def folder(tmp_path: Path):
    """A built source of ten pictures in two classes."""
    for number in range(10):
        path = tmp_path / "pictures" / "ab"[number % 2] / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(RANDOM.integers(0, 256, (6, 9, 4), np.uint8)).save(path)
    return registry.build(ImageFolder(path="pictures", height=5, width=7, labels="folders"), tmp_path)


def reopened(source, tmp_path: Path):
    packing.write(source, {"name": "image_folder"}, tmp_path / "a.pack")
    return registry.build(Packed(path="a.pack"), tmp_path)


@pytest.mark.parametrize("room", [10**9, 0])
def test_everything_that_training_sees_is_the_same(folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int):
    monkeypatch.setattr(packed, "LARGEST_IN_MEMORY", room)
    source = reopened(folder, tmp_path)
    assert (source.in_memory is None) is (room == 0)
    everything = np.arange(10)
    assert source.load(everything).tobytes() == folder.load(everything).tobytes()
    assert source.labels.tolist() == folder.labels.tolist()
    for name in ("shape", "length", "value_range", "class_names"):
        assert getattr(source, name) == getattr(folder, name)
    assert source.fingerprint() == folder.fingerprint()
    assert source.report.lines == folder.report.lines
    assert source.load(everything).dtype == np.uint8


def test_large_sets_are_written_in_parts(folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(packing, "CHUNK_BYTES", 3 * 5 * 7 * 3)
    assert reopened(folder, tmp_path).load(np.arange(10)).tobytes() == folder.load(np.arange(10)).tobytes()


def test_a_table_keeps_its_way_back(tmp_path: Path):
    (tmp_path / "t.csv").write_text("a,b\n1,2.5\n3,4.5\n")
    table = registry.build(Csv(path="t.csv"), tmp_path)
    source = reopened(table, tmp_path)
    assert source.table == table.table
    assert (source.value_range, source.labels, source.in_memory.dtype) == (None, None, np.float32)


@pytest.mark.parametrize("room", [10**9, 0])
@pytest.mark.parametrize("place", [packed.START + 17, packed.START + 10 * 5 * 7 * 3 + 3, 20, -5])
def test_one_wrong_bit_is_found(folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, place: int):
    packing.write(folder, {}, tmp_path / "a.pack")
    content = bytearray((tmp_path / "a.pack").read_bytes())
    content[place] ^= 1
    (tmp_path / "a.pack").write_bytes(content)
    monkeypatch.setattr(packed, "LARGEST_IN_MEMORY", room)
    with pytest.raises(DataError, match=r"a\.pack is damaged"):
        registry.build(Packed(path="a.pack"), tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist; make one with `gantrain pack"),
        (b"", "is no file that `gantrain pack` wrote"),
        (b"PK\x03\x04", "is no file that `gantrain pack` wrote"),
        (packed.MARK, "is cut off, or of another gantrain version"),
        (packed.MARK[:13] + b"-99" + bytes(100), "is cut off, or of another gantrain version"),
        (packed.MARK + bytes(100), "is damaged or cut off"),
    ],
)
def test_what_is_no_packed_file_is_refused(tmp_path: Path, content: bytes | None, message: str):
    if content is not None:
        (tmp_path / "a.pack").write_bytes(content)
    with pytest.raises(DataError, match=message):
        Packed(path="a.pack").peek(tmp_path)


def test_a_file_that_is_cut_off_is_refused_by_peek(folder, tmp_path: Path):
    packing.write(folder, {}, tmp_path / "a.pack")
    (tmp_path / "a.pack").write_bytes((tmp_path / "a.pack").read_bytes()[:-1])
    with pytest.raises(DataError, match=r"a\.pack is damaged or cut off; pack the data again"):
        Packed(path="a.pack").peek(tmp_path)


def test_an_existing_file_is_not_overwritten_and_a_failed_one_leaves_nothing(folder, tmp_path: Path, monkeypatch):
    (tmp_path / "a.pack").write_text("mine")
    with pytest.raises(DataError, match="is there already"):
        packing.write(folder, {}, tmp_path / "a.pack")
    assert (tmp_path / "a.pack").read_text() == "mine"
    monkeypatch.setattr(packing, "_header", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        packing.write(folder, {}, tmp_path / "b.pack")
    assert {path.name for path in tmp_path.iterdir()} == {"pictures", "a.pack"}
