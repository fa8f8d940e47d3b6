"""Every registered source keeps what interfaces.Source promises. A new source needs an example here."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain import registry
from gantrain.data import packing
from gantrain.data.catalog import Arrays, Digits, FashionSample, GaussianMixture, ImageFolder, WindowTeacher
from gantrain.data.file_settings import Csv, Idx, KerasCache, Packed, TfRecord
from gantrain.data.pairing import pairing_of
from gantrain.interfaces import SourceSettings
from tests.records import example, write_records


def _image_folder(folder: Path, variant: int) -> SourceSettings:
    for number in range(6):
        path = folder / "pictures" / f"class{number % 2}" / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (6, 5), (40 * number, variant, 0)).save(path)
    return ImageFolder(path="pictures", height=4, width=5, labels="folders")


def _arrays(folder: Path, variant: int) -> SourceSettings:
    values = np.linspace(0, 1, 6 * 20).reshape(6, 4, 5)
    values[3, 2, 1] = variant / 2
    np.savez(folder / "x.npz", x=values, y=np.arange(6) % 3)
    return Arrays(path="x.npz", labels_key="y", value_range=(0, 1))


def _idx(folder: Path, variant: int) -> SourceSettings:
    values = np.arange(6 * 20, dtype=np.uint8).reshape(6, 4, 5) + variant
    header = bytes([0, 0, 8, 3]) + np.array(values.shape, ">i4").tobytes()
    (folder / "images.gz").write_bytes(gzip.compress(header + values.tobytes(), mtime=0))
    (folder / "labels").write_bytes(bytes([0, 0, 8, 1]) + np.array([6], ">i4").tobytes() + bytes([0, 1, 2, 0, 1, 2]))
    return Idx(path="images.gz", labels="labels")


def _csv(folder: Path, variant: int) -> SourceSettings:
    rows = [f"{number},{number * 1.5 + variant:.2f},{'ab'[number % 2]},c{number % 3}" for number in range(6)]
    (folder / "table.csv").write_text("\n".join(["count,size,kind,class", *rows]))
    return Csv(path="table.csv", label="class", categories=("kind",))


def _keras_cache(folder: Path, variant: int) -> SourceSettings:
    values = np.zeros((10000, 28, 28), np.uint8)
    values[:, 3, 4] = np.arange(10000) % 251
    values[0, 0, 0] = variant
    np.savez(folder / "mnist.npz", x_test=values, y_test=(np.arange(10000) % 10).astype(np.uint8))
    return KerasCache(dataset="mnist", split="test", path=".")


def _tfrecord(folder: Path, variant: int) -> SourceSettings:
    values = np.arange(6 * 8, dtype=np.float32).reshape(6, 8) / 48
    values[2, 3] = variant / 4
    rows = [example(x=row, y=[number % 3]) for number, row in enumerate(values)]
    write_records(folder / "a.tfrecord", rows)
    return TfRecord(path="a.tfrecord", feature="x", shape=(8,), encoding="numbers", label="y", value_range=(0, 1))


def _packed(folder: Path, variant: int) -> SourceSettings:
    source = registry.build(_arrays(folder, variant), folder)
    packing.write(source, {}, folder / f"{variant}.pack")
    return Packed(path=f"{variant}.pack")


# name -> (folder to write files in, variant 0 or 1 of the data) -> settings
EXAMPLES: dict[str, Callable[[Path, int], SourceSettings]] = {
    "arrays": _arrays,
    "csv": _csv,
    "digits": lambda _folder, _variant: Digits(),
    "fashion_sample": lambda _folder, variant: FashionSample(split=("train", "test")[variant]),
    "gaussian_mixture": lambda _folder, variant: GaussianMixture(size=50, seed=variant),
    "idx": _idx,
    "image_folder": _image_folder,
    "keras_cache": _keras_cache,
    "packed": _packed,
    "tfrecord": _tfrecord,
    "window_teacher": lambda _folder, variant: WindowTeacher(size=50, seed=variant),
}
CONSTANT = {"digits"}  # sources with one variant only
NAMES = registry.names("source")


def settings_of(name: str, folder: Path, variant: int = 0) -> SourceSettings:
    if name not in EXAMPLES:
        pytest.fail(f"source {name!r} has no example; add one to EXAMPLES in {__file__}")
    return EXAMPLES[name](folder, variant)


@pytest.fixture(params=NAMES)
def pair(request: pytest.FixtureRequest, tmp_path: Path):
    """(facts by peek, built source)."""
    settings = settings_of(request.param, tmp_path)
    return settings.peek(tmp_path), registry.build(settings, tmp_path)


def test_what_peek_says_is_what_is_built(pair):
    facts, source = pair
    assert (facts.shape, facts.length) == (source.shape, source.length)
    assert facts.bounded is (source.value_range is not None)
    assert facts.num_classes == (None if source.labels is None else len(source.class_names))
    pairing = pairing_of(source)
    assert facts.target_size == (None if pairing is None else pairing.size)
    assert facts.longest_sequence == (None if pairing is None else pairing.longest)


def test_load_is_repeatable_in_any_order_and_keeps_shape_and_dtype(pair):
    _, source = pair
    forward = np.arange(min(source.length, 20), dtype=np.int64)
    values = source.load(forward)
    assert values.shape == (len(forward), *source.shape)
    assert values.dtype in (np.uint8, np.float32)
    assert (source.load(forward[::-1])[::-1] == values).all()
    assert (source.load(np.array([2, 2], np.int64)) == values[[2, 2]]).all()


def test_values_are_finite_and_inside_the_declared_range(pair):
    _, source = pair
    values = source.load(np.arange(source.length, dtype=np.int64))
    assert np.isfinite(values).all()
    assert values.std() > 0
    if source.value_range is not None:
        low, high = source.value_range
        assert low <= values.min() < values.max() <= high
    if values.dtype == np.uint8:
        assert source.value_range is not None


def test_labels_are_int64_in_range_and_every_class_has_a_name(pair):
    _, source = pair
    if source.labels is None:
        assert source.class_names == ()
        return
    assert (source.labels.shape, source.labels.dtype) == ((source.length,), np.int64)
    assert 0 <= source.labels.min() <= source.labels.max() < len(source.class_names)
    assert len(set(source.class_names)) == len(source.class_names)


def test_what_is_in_memory_is_what_load_gives(pair):
    _, source = pair
    if source.in_memory is not None:
        assert source.in_memory.shape == (source.length, *source.shape)
        assert (source.load(np.array([1, 0])) == source.in_memory[[1, 0]]).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_fingerprint_is_repeatable_and_changes_with_the_data(name: str, tmp_path: Path):
    here, there = tmp_path / "here", tmp_path / "there"
    prints = []
    for folder, variant in ((here, 0), (there, 0), (there, 1)):
        folder.mkdir(exist_ok=True)
        prints.append(registry.build(settings_of(name, folder, variant), folder).fingerprint())
    assert prints[0] == prints[1]
    assert len(prints[0]) == 64
    assert (prints[0] == prints[2]) == (name in CONSTANT)


@pytest.mark.parametrize("name", NAMES)
def test_each_source_says_in_one_line_what_it_is(name: str):
    row = registry.find("source", name)
    assert row is not None
    assert 20 < len(row.summary) < 100
