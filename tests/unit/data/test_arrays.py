"""npy and npz files: what is accepted, what is refused, and with which words."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from gantrain.data import arrays as module
from gantrain.data.arrays import build
from gantrain.data.catalog import Arrays as Settings
from gantrain.errors import DataError

RANDOM = np.random.default_rng(0)
PICTURES = RANDOM.integers(0, 256, (6, 5, 4, 3), np.uint8)
VECTORS = RANDOM.normal(size=(6, 3))


def opened(tmp_path: Path, values: np.ndarray, **settings):
    np.save(tmp_path / "x.npy", values)
    return build(Settings(path="x.npy", **settings), tmp_path)


def packed(tmp_path: Path, arrays: dict[str, np.ndarray], **settings):
    np.savez(tmp_path / "x.npz", **arrays)  # pyright: ignore[reportArgumentType]
    return build(Settings(path="x.npz", **settings), tmp_path)


@pytest.fixture
def mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as too large for memory."""
    monkeypatch.setattr(module, "LARGEST_IN_MEMORY", 0)


def test_uint8_pictures_stay_uint8_with_the_range_of_bytes(tmp_path: Path):
    source = opened(tmp_path, PICTURES)
    assert (source.in_memory == PICTURES).all()
    assert (source.in_memory.dtype, source.shape, source.value_range) == (np.uint8, (5, 4, 3), (0, 255))


def test_pictures_without_a_channel_axis_get_one(tmp_path: Path):
    assert opened(tmp_path, PICTURES[..., 0]).shape == (5, 4, 1)


def test_float64_becomes_float32_and_keeps_its_values(tmp_path: Path):
    source = opened(tmp_path, VECTORS)
    assert (source.load(np.array([4, 1])) == VECTORS[[4, 1]].astype(np.float32)).all()
    assert (source.in_memory.dtype, source.value_range) == (np.float32, None)


def test_a_large_file_is_mapped_and_gives_the_same_values(tmp_path: Path, mapped: None):
    source = opened(tmp_path, VECTORS[:, :, None] / 10, value_range=(-1, 1))
    assert source.in_memory is None
    assert isinstance(source.values, np.memmap)
    assert (source.load(np.array([5, 0])) == (VECTORS[[5, 0], :, None, None] / 10).astype(np.float32)).all()


def test_big_endian_and_column_order_are_read_right(tmp_path: Path):
    source = opened(tmp_path, np.asfortranarray(VECTORS.astype(">f8")))
    assert (source.in_memory == VECTORS.astype(np.float32)).all()


def test_integers_with_a_declared_range_become_float32(tmp_path: Path):
    source = opened(tmp_path, PICTURES.astype(np.int16) - 100, value_range=(-100, 155))
    assert (source.in_memory == PICTURES.astype(np.float32) - 100).all()


def test_labels_come_from_their_own_file_or_from_the_same_npz(tmp_path: Path):
    labels = np.array([0, 2, 1, 0, 2, 2], np.uint8)
    np.save(tmp_path / "labels.npy", labels)
    for source in (
        opened(tmp_path, PICTURES, labels="labels.npy"),
        packed(tmp_path, {"x": PICTURES, "y": labels}, labels_key="y"),
        packed(tmp_path, {"x": PICTURES, "y": labels, "z": PICTURES}, key="x", labels_key="y"),
        packed(tmp_path, {"x": PICTURES, "y": labels[:, None]}, key="x", labels_key="y"),  # as Keras gives those of CIFAR
    ):
        assert (source.in_memory == PICTURES).all()
        assert (source.labels == labels).all()
        assert (source.labels.dtype, source.class_names) == (np.int64, ("0", "1", "2"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            PICTURES.astype(np.int32),
            r"has dtype int32, its values go from \d+ to \d+; make it uint8, or declare data.source.value_range",
        ),
        (PICTURES / 255, r"holds float64 pictures, its values go from 0\.?\d* to [01]\.?\d*; declare data.source.value_range"),
        (PICTURES > 3, r"has dtype bool; convert it"),
        (VECTORS + 1j, r"has dtype complex128; convert it"),
        (np.array([["a"]]), r"has dtype <U1; convert it"),
        (np.array([[{}]], object), r"holds Python objects \(a pickle\), which are never loaded"),
        (np.array([{}, []], object), r"holds Python objects \(a pickle\)"),  # pictures of different sizes, mostly
        (np.zeros(3), r"has shape \(3,\); wanted are pictures"),
        (np.zeros((0, 3)), r"has shape \(0, 3\): there is nothing in it"),
        (
            np.zeros((9, 3, 32, 32), np.uint8),
            r"has shape \(9, 3, 32, 32\), channels first; write numpy.transpose\(x, \(0, 2, 3, 1\)\)",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_remedy(values: np.ndarray, message: str, tmp_path: Path):
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(DataError, match=rf"x\.npy {message}"):
        Settings(path="x.npy").peek(tmp_path)
    with pytest.raises(DataError, match=rf"x\.npy {message}"):
        build(Settings(path="x.npy"), tmp_path)


def test_values_that_are_not_finite_are_counted_and_the_first_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "CHUNK_VALUES", 6)  # two examples at a time
    values = VECTORS.copy()
    values[3, 1], values[5, 0], values[5, 2] = np.nan, np.inf, 1e300  # the last one only overflows float32
    with pytest.raises(DataError, match=r"holds 3 values not finite \(NaN or infinite\), first in example 3"):
        opened(tmp_path, values)


def test_values_outside_the_declared_range_are_an_error_with_share_and_extremes(tmp_path: Path):
    values = np.zeros((2, 5))
    values[0, 0], values[1, 1] = -3, 1.5
    with pytest.raises(DataError, match=r"20 % of the values lie outside value_range \[0, 1\]; they go from -3 to 1\.5"):
        opened(tmp_path, values, value_range=(0, 1))
    assert opened(tmp_path, values, value_range=(-3, 1.5)).value_range == (-3, 1.5)


def test_an_end_of_the_range_that_float32_cannot_hold_exactly_is_inside(tmp_path: Path):
    assert opened(tmp_path, np.array([[0.1, 0.7]]), value_range=(0.1, 0.7)).length == 1


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(5, int), r"are int64 \(5,\); wanted are whole numbers of shape \(6,\)"),
        (np.zeros(6), "are float64"),
        (np.array(list("abcabc")), r"are <U1 \(6,\); wanted are whole numbers .*numpy\.unique\(y, return_inverse=True\)"),
        (np.array([{}] * 6), "holds Python objects"),
        (np.array([0, -1, 0, 0, 0, 0]), "go down to -1"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels: np.ndarray, message: str, tmp_path: Path):
    with pytest.raises(DataError, match=message):
        packed(tmp_path, {"x": PICTURES, "y": labels}, labels_key="y")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"holds 2 arrays besides those that are named \(x, y\); name one with data.source.key"),
        ({"key": "z"}, r"has no array named 'z'; it holds x, y"),
        ({"key": "x", "labels_key": "z"}, r"has no array named 'z'"),
    ],
)
def test_names_inside_an_npz_are_checked(settings: dict[str, str], message: str, tmp_path: Path):
    with pytest.raises(DataError, match=message):
        packed(tmp_path, {"x": PICTURES, "y": PICTURES}, **settings)


def test_a_key_for_an_npy_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match="it has no array named 'a'; leave the key out"):
        opened(tmp_path, PICTURES, key="a")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: None, "does not exist; correct data.source"),
        (os.mkfifo, "is no file but a pipe, a device or a socket"),
        (lambda path: path.write_bytes(b"PK\x05\x06" + bytes(18)), "holds no arrays"),
        (lambda path: path.mkdir(), "is a folder, arrays needs a .npy or .npz file"),
        (lambda path: path.write_bytes(b""), "is neither a .npy nor a .npz file"),
        (lambda path: path.write_text("1,2,3"), "is neither a .npy nor a .npz file"),
        (lambda path: path.write_bytes(b"\x93NUMPY\x01\x00"), "cannot be read .* damaged or cut off"),
        (lambda path: path.write_bytes(b"PK\x03\x04 and no more"), "cannot be read .* damaged or cut off"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_remedy(make, message: str, tmp_path: Path):
    make(tmp_path / "x.npy")
    with pytest.raises(DataError, match=rf"x\.npy {message}"):
        Settings(path="x.npy").peek(tmp_path)


def test_an_npy_that_is_cut_off_is_found_when_it_is_opened(tmp_path: Path):
    np.save(tmp_path / "x.npy", PICTURES)
    (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-10])
    with pytest.raises(DataError, match=r"x\.npy cannot be read"):
        build(Settings(path="x.npy"), tmp_path)


def test_a_flipped_bit_in_an_npz_is_found_when_it_is_opened(tmp_path: Path):
    packed(tmp_path, {"x": PICTURES})
    content = bytearray((tmp_path / "x.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.npz cannot be read"):
        build(Settings(path="x.npz"), tmp_path)


def test_an_npz_is_known_by_its_content_whatever_its_name(tmp_path: Path):
    packed(tmp_path, {"x": PICTURES})
    (tmp_path / "x.npz").rename(tmp_path / "x.data")
    assert Settings(path="x.data").peek(tmp_path).length == 6


def test_a_foreign_member_in_an_npz_is_not_taken_for_an_array(tmp_path: Path):
    packed(tmp_path, {"x": PICTURES})
    with zipfile.ZipFile(tmp_path / "x.npz", "a") as archive:
        archive.writestr("readme.txt", "hello")
    assert Settings(path="x.npz").peek(tmp_path).length == 6


def test_the_fingerprint_of_a_mapped_file_sees_a_changed_value(tmp_path: Path, mapped: None):
    before = opened(tmp_path, PICTURES).fingerprint()
    assert opened(tmp_path, PICTURES).fingerprint() == before
    changed = PICTURES.copy()
    changed[3, 2, 1, 0] ^= 1
    assert opened(tmp_path, changed).fingerprint() != before


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(ValidationError, match="both given"):
        Settings(path="x", labels="y", labels_key="z")
    with pytest.raises(ValidationError, match="lowest < highest"):
        Settings(path="x", value_range=(1, 1))


def test_rows_of_several_labels_are_not_silently_one(tmp_path: Path):
    with pytest.raises(DataError, match=r"are rows of 4 numbers \(one-hot or multi-hot\)"):
        packed(tmp_path, {"x": PICTURES, "y": np.eye(6, 4, dtype=int)}, labels_key="y")


def test_the_report_shows_extremes_and_warns_of_empty_classes_and_of_exact_bits(tmp_path: Path):
    labels = np.array([1, 2, 3, 1, 2, 3])
    report = packed(tmp_path, {"x": PICTURES, "y": labels}, labels_key="y").report
    assert f"6 examples 5x4x3 of uint8, values from {PICTURES.min()} to {PICTURES.max()}" in report.lines[0]
    assert report.warnings[0].startswith("classes without an example: 0;")
    (warning,) = opened(tmp_path, (VECTORS > 0).astype(np.float32)).report.warnings
    assert "every value is exactly 0 or 1" in warning
    assert opened(tmp_path, VECTORS).report.warnings == ()
