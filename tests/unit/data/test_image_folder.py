"""A folder as a whole: order, labels, the check before the first step, memory or files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain.data import image_folder as module
from gantrain.data import progress, scan, scan_cache, survey
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
    with pytest.raises(
        DataError,
        match=r"(?s)7 of 8 pictures cannot be used; replace or remove them, or write on_bad_file: skip:.*bad4\.png: .*and 2 more",
    ):
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


def test_a_pipe_is_named_and_not_waited_for(tmp_path: Path):
    fill(tmp_path, a=1)
    os.mkfifo(tmp_path / "pictures" / "pipe.png")
    with pytest.raises(DataError, match=r"pipe\.png: is no file but a folder, a pipe or a device"):
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


# ---------------------------------------------------------------- labels, skips, the report


def labels_csv(root: Path, text: str) -> Path:
    (root / "labels.csv").write_text(text)
    return root


def test_labels_come_from_a_file_by_name_whatever_its_order(tmp_path: Path):
    labels_csv(fill(tmp_path, img1=1, img2=2, img10=3), "file,label\nimg2.png,3\nimg10.png,1\nimg1.png,2\n")
    source = build(settings(labels="labels.csv"), tmp_path)
    assert source.class_names == ("1", "2", "3")
    assert dict(zip(source.in_memory[:, 0, 0, 0].tolist(), source.labels.tolist(), strict=True)) == {1: 1, 2: 2, 3: 0}
    assert settings(labels="labels.csv").peek(tmp_path).class_names == ("1", "2", "3")


def test_pictures_without_a_label_are_named_and_may_be_skipped(tmp_path: Path):
    labels_csv(fill(tmp_path, a=1, b=2, c=3), "file,label\nA.png,x\nb.png,y\nzzz.png,y\n")
    message = r"2 of 3 pictures without a label in .*labels\.csv: a\.png, c\.png; A\.png and a\.png differ only in case"
    with pytest.raises(DataError, match=message):
        build(settings(labels="labels.csv"), tmp_path)
    source = build(settings(labels="labels.csv", on_bad_file="skip"), tmp_path)
    assert (source.length, source.class_names, source.report.skipped) == (1, ("y",), 2)
    assert any("2 names in" in warning and "zzz.png" in warning for warning in source.report.warnings)
    assert settings(labels="labels.csv", on_bad_file="skip").peek(tmp_path).length == 1


def test_a_labels_file_of_another_set_is_refused_with_both_sides(tmp_path: Path):
    labels_csv(fill(tmp_path, a=1), "file,label\nx.png,1\n")
    with pytest.raises(
        DataError, match=r"no name in .*labels\.csv is a picture in .*: the file says x\.png, the folder has a\.png"
    ):
        build(settings(labels="labels.csv"), tmp_path)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Two good pictures and two bad ones, changed a while ago."""
    fill(tmp_path, good1=1, good2=2)
    (tmp_path / "pictures" / "empty.png").write_bytes(b"")
    (tmp_path / "pictures" / "zeros.jpg").write_bytes(bytes(300))
    for path in (tmp_path / "pictures").iterdir():
        os.utime(path, (10**9, 10**9))
    return tmp_path


@pytest.mark.parametrize("room", [10**9, 0])
def test_bad_files_are_skipped_and_counted_where_the_spec_says_so(mixed: Path, monkeypatch: pytest.MonkeyPatch, room: int):
    monkeypatch.setattr(module, "LARGEST_IN_MEMORY", room)
    with pytest.raises(
        DataError, match=r"(?s)2 of 4 pictures cannot be used.*empty\.png: is empty .*zeros\.jpg: holds nothing but"
    ):
        build(settings(), mixed)
    source = build(settings(on_bad_file="skip"), mixed)
    assert source.load(np.arange(2))[:, 0, 0, 0].tolist() == [1, 2]
    assert (source.length, source.report.skipped) == (2, 2)
    assert set(source.report.tree["unreadable"]) == {"empty.png", "zeros.jpg"}
    assert settings(on_bad_file="skip").peek(mixed).length == 2  # known from the scan
    assert "2 unreadable files" in settings().peek(mixed).notes[0]


def test_when_every_file_is_bad_skipping_is_an_error_too(tmp_path: Path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"")
    with pytest.raises(DataError, match="1 of 1 picture cannot be used"):
        build(settings(on_bad_file="skip"), tmp_path)


def test_a_second_scan_looks_only_at_what_changed(mixed: Path, monkeypatch: pytest.MonkeyPatch):
    looked = []
    original = survey.look
    monkeypatch.setattr(survey, "look", lambda path, frame: looked.append(path.name) or original(path, frame))
    monkeypatch.setattr(module, "LARGEST_IN_MEMORY", 0)
    build(settings(on_bad_file="skip"), mixed)
    Image.new("L", (4, 4), 77).save(mixed / "pictures" / "empty.png")
    os.utime(mixed / "pictures" / "empty.png", (10**9 + 5, 10**9 + 5))
    assert sorted(looked) == ["empty.png", "good1.png", "good2.png", "zeros.jpg"]
    looked.clear()
    assert build(settings(on_bad_file="skip"), mixed).length == 3
    assert looked == ["empty.png"]


def test_a_file_that_changed_a_moment_ago_is_looked_at_again(tmp_path: Path):
    build(settings(), fill(tmp_path, a=1))
    assert scan_cache.load(tmp_path / "pictures") == {}


def test_the_report_names_what_is_odd(tmp_path: Path):
    fill(tmp_path, a=1, b=1, c=9)
    folder = tmp_path / "pictures"
    Image.fromarray(np.arange(64, dtype=np.uint16).reshape(8, 8) * 50).save(folder / "deep.png")
    Image.new("RGBA", (4, 6), (1, 2, 3, 4)).save(folder / "clear.png")
    for name in ("Thumbs.db", "._img1.png", "README.txt"):
        (folder / name).write_bytes(b"x")
    text = "\n".join((report := build(settings(), tmp_path).report).lines)
    assert "pictures   5 of 5 files, brought to 4x4 gray, cropped" in text
    assert "modes      L 3, RGBA 1, I;16 1" in text
    assert "alpha      1 with transparent pixels: composited over #ffffff" in text
    assert "copies     1 file with the contents of another, such as a.png = b.png" in text
    assert "ignored    3 other files: ._img1.png, README.txt, Thumbs.db" in text
    assert "sizes      4x4 3," in text
    assert "more than 8 bits per channel in 1 of 5 pictures, the others have 8 (deep.png)" in report.warnings[0]
    assert "no value is above 3150 of 65535, so they will be nearly black; write value_range: [0, 3150]" in report.warnings[1]
    assert report.tree["deep"] == {"deep.png": [0, 3150]}


def test_padding_with_one_exact_value_is_warned_about(tmp_path: Path):
    (tmp_path / "pictures").mkdir()
    for number in range(4):
        inside = np.random.default_rng(number).integers(1, 256, (8, 16, 3), np.uint8)
        Image.fromarray(np.pad(inside, ((4, 4), (0, 0), (0, 0)))).save(tmp_path / "pictures" / f"{number}.png")
    (warning,) = build(settings(), tmp_path).report.warnings
    assert "50 % of the pixels lie in bars of one exact value along the border (4 of 4 pictures)" in warning


def test_progress_is_told_while_files_are_looked_at(tmp_path: Path):
    told = []
    with progress.watched(lambda _, done, total: told.append((done, total))):
        build(settings(), fill(tmp_path, a=1, b=2))
    assert told == [(2, 2)]
    build(settings(), tmp_path)
    assert told == [(2, 2)]


@pytest.mark.parametrize("alpha", ["composite", "error"])
def test_the_rule_for_alpha_is_applied_before_the_first_step(tmp_path: Path, alpha: str, many: None):
    fill(tmp_path, a=1)
    Image.new("RGBA", (4, 4), (1, 2, 3, 4)).save(tmp_path / "pictures" / "b.png")
    if alpha == "composite":
        assert build(settings(alpha=alpha), tmp_path).length == 2
        return
    with pytest.raises(DataError, match=r"(?s)1 of 2 pictures.*b\.png: has transparent pixels"):
        build(settings(alpha=alpha), tmp_path)


def test_four_channels_come_out_as_rgba(tmp_path: Path):
    (tmp_path / "pictures").mkdir()
    values = np.random.default_rng(0).integers(1, 256, (4, 4, 4), np.uint8)
    Image.fromarray(values).save(tmp_path / "pictures" / "a.png")
    source = build(settings(channels=4), tmp_path)
    assert (source.in_memory[0] == values).all()
    assert settings(channels=4).peek(tmp_path).shape == source.shape == (4, 4, 4)
