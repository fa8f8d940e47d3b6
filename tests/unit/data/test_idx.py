"""idx files as MNIST has them, and the ways in which they are wrong."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from gantrain.data import idx as module
from gantrain.data.file_settings import Idx
from gantrain.data.idx import build
from gantrain.errors import DataError

CODES = {"u1": 8, "i1": 9, ">i2": 11, ">i4": 12, ">f4": 13, ">f8": 14}
PICTURES = np.random.default_rng(0).integers(0, 256, (5, 4, 3), np.uint8)
LABELS = np.array([0, 2, 1, 2, 0], np.uint8)


def content(values: np.ndarray, code: str = "u1") -> bytes:
    header = bytes([0, 0, CODES[code], values.ndim]) + np.array(values.shape, ">i4").tobytes()
    return header + values.astype(code).tobytes()


def opened(folder: Path, values: np.ndarray, code: str = "u1", **settings):
    (folder / "x").write_bytes(content(values, code))
    return build(Idx(path="x", **settings), folder)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_plain_and_gzip_files_are_the_same_pictures(tmp_path: Path, pack):
    (tmp_path / "x").write_bytes(pack(content(PICTURES)))
    (tmp_path / "y").write_bytes(pack(content(LABELS)))
    source = build(Idx(path="x", labels="y"), tmp_path)
    assert (source.in_memory[..., 0] == PICTURES).all()
    assert (source.shape, source.value_range, source.class_names) == ((4, 3, 1), (0, 255), ("0", "1", "2"))
    assert source.labels.tolist() == LABELS.tolist()
    assert source.labels.dtype == np.int64


@pytest.mark.parametrize("code", ["i1", ">i2", ">i4", ">f4", ">f8"])
def test_every_type_is_read_in_its_byte_order(tmp_path: Path, code: str):
    values = np.arange(-60, 60).reshape(6, 20)
    source = opened(tmp_path, values, code, value_range=(-60, 60))
    assert (source.in_memory == values).all()
    assert source.in_memory.dtype == np.float32


def test_a_large_plain_file_is_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "LARGEST_IN_MEMORY", 0)
    source = opened(tmp_path, PICTURES)
    assert source.in_memory is None
    assert (source.load(np.array([4, 0]))[..., 0] == PICTURES[[4, 0]]).all()


def test_a_header_is_all_that_peek_reads_of_pictures(tmp_path: Path):
    (tmp_path / "x").write_bytes(content(PICTURES)[:20])
    facts = Idx(path="x").peek(tmp_path)
    assert (facts.shape, facts.length, facts.bounded) == ((4, 3, 1), 5, True)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x", b"", r"x is no idx file \(it starts with nothing\)"),
        ("x", b"\x93NUMPY", r"x is no idx file \(it starts with 93 4e 55 4d\); for npy and npz files use arrays"),
        ("x", content(PICTURES)[:10], r"x is cut off in its header"),
        ("x", content(PICTURES)[:-1], r"x should hold 60 bytes of values for shape \(5, 4, 3\), it holds 59"),
        ("x", content(PICTURES) + b"!", r"x should hold 60 bytes .* it holds more"),
        ("x", gzip.compress(content(PICTURES), mtime=0)[:-9], r"x is damaged or cut off|x should hold"),
        ("x", content(LABELS), r"x holds one number per example: that is a file of labels"),
        (
            "x",
            content(PICTURES, ">f4"),
            r"x holds >f4 values, the first examples go from 4 to 248; declare data.source.value_range",
        ),
        ("x", bytes([0, 0, 8, 3]) + np.array([1, 2, -3], ">i4").tobytes(), r"x says its shape is \(1, 2, -3\), which cannot be"),
        ("y", content(PICTURES), r"y holds uint8 \(5, 4, 3\), no labels"),
        ("y", content(LABELS[:4]), r"y has 4 labels, .*x has 5 examples; give files of the same part"),
        ("y", content(LABELS.astype(int) - 1, "i1"), r"y: labels go down to -1"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(tmp_path: Path, name: str, data: bytes, message: str):
    (tmp_path / "x").write_bytes(content(PICTURES))
    (tmp_path / "y").write_bytes(content(LABELS))
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=message):
        build(Idx(path="x", labels="y"), tmp_path)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(DataError, match=r"idx file .*gone does not exist"):
        Idx(path="gone").peek(tmp_path)


def test_values_outside_the_range_are_an_error(tmp_path: Path):
    with pytest.raises(DataError, match=r"lie outside value_range \[0, 100\]"):
        opened(tmp_path, np.arange(120).reshape(6, 20), ">f4", value_range=(0, 100))
