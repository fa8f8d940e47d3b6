"""A folder as a whole: order, labels, the check before the first step, memory or files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain.data import image_folder as module
from gantrain.data import scan
from gantrain.data.catalog import ImageFolder as Settings
from gantrain.data.image_folder import build
from gantrain.errors import DataError


def settings(**changes) -> Settings:
    return Settings(**{"path": "pictures", "height": 4, "width": 4, "channels": 1, **changes})


def fill(root: Path, **values: int) -> Path:
    """Gray pictures of one value each, named by the keys (`cat__1` is cat/1.png)."""
    for name, value in values.items():
        path = root / "pictures" / f"{name.replace('__', '/')}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (4, 4), value).save(path)
    return root


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every set counts as too large for memory."""
    monkeypatch.setattr(module, "LARGEST_IN_MEMORY", 0)


def test_a_small_set_is_decoded_once_in_the_order_of_names(tmp_path: Path):
    source = build(settings(), fill(tmp_path, c=3, a=1, b=2))
    assert source.in_memory is not None
    assert source.in_memory[:, 0, 0, 0].tolist() == [1, 2, 3]
    assert (source.shape, source.length, source.value_range, source.labels) == ((4, 4, 1), 3, (0, 255), None)


def test_a_large_set_is_read_when_needed_and_gives_the_same_pictures(tmp_path: Path, many: None):
    source = build(settings(), fill(tmp_path, c=3, a=1, b=2))
    assert source.in_memory is None
    assert source.load(np.array([2, 0, 2]))[:, 3, 3, 0].tolist() == [3, 1, 3]
    assert (source.shape, source.length, source.value_range) == ((4, 4, 1), 3, (0, 255))


def test_a_file_that_breaks_after_the_check_is_named_when_it_is_read(tmp_path: Path, many: None):
    source = build(settings(), fill(tmp_path, a=1))
    (tmp_path / "pictures" / "a.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"a\.png: is empty"):
        source.load(np.array([0]))


def test_the_folder_is_the_class(tmp_path: Path):
    source = build(settings(labels="folders"), fill(tmp_path, dog__1=1, cat__x__1=2, dog__2=3))
    assert source.class_names == ("cat", "dog")
    assert source.labels is not None
    assert (source.labels.tolist(), source.labels.dtype) == ([0, 1, 1], np.int64)


def test_all_bad_files_are_reported_together_before_the_first_step(tmp_path: Path):
    fill(tmp_path, good=1)
    for number in range(7):
        (tmp_path / "pictures" / f"bad{number}.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"(?s)7 of 8 pictures cannot be used; replace or remove them, or write on_bad_file: skip:.*bad4\.png: .*and 2 more"):
        build(settings(), tmp_path)


def test_a_bad_file_in_a_large_set_is_found_before_the_first_step(tmp_path: Path, many: None):
    fill(tmp_path, good=1)
    (tmp_path / "pictures" / "bad.png").write_bytes((tmp_path / "pictures" / "good.png").read_bytes()[:50])
    with pytest.raises(DataError, match=r"(?s)1 of 2 pictures.*bad\.png"):
        build(settings(), tmp_path)


def test_a_broken_link_is_named(tmp_path: Path):
    fill(tmp_path, a=1)
    (tmp_path / "pictures" / "gone.png").symlink_to("nowhere")
    with pytest.raises(DataError, match=r"gone\.png: cannot be opened"):
        build(settings(), tmp_path)


def test_the_fingerprint_follows_the_data_and_not_the_place(tmp_path: Path, many: None):
    here, there = tmp_path / "here", tmp_path / "there"
    prints = [build(settings(), fill(root, a=1, b=2)).fingerprint() for root in (here, there)]
    assert prints[0] == prints[1]
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (4, 4), np.uint8)).save(there / "pictures" / "b.png")
    assert build(settings(), there).fingerprint() != prints[0]
    (here / "pictures" / "b.png").rename(here / "pictures" / "c.png")
    assert build(settings(), here).fingerprint() != prints[0]


@pytest.mark.parametrize(("room", "kept"), [(3 * 16, True), (3 * 16 - 1, False)])
def test_what_fits_in_memory_is_kept_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, kept: bool):
    monkeypatch.setattr(module, "LARGEST_IN_MEMORY", room)
    source = build(settings(), fill(tmp_path, a=1, b=2, c=3))
    assert (source.in_memory is not None) is kept


def test_peek_says_when_it_stopped_and_then_knows_no_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fill(tmp_path, a=1, b=2)
    assert settings().peek(tmp_path).length == 2
    monkeypatch.setattr(scan, "QUICK", scan.Limits(entries=1))
    facts = settings().peek(tmp_path)
    assert (facts.shape, facts.length) == ((4, 4, 1), None)
    assert "and stopped" in facts.notes[0]
