"""Names only: nothing here is a real picture, and nothing is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from gantrain.data.scan import Limits, class_names, printable, scan
from gantrain.errors import DataError


def touch(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def test_pictures_are_found_at_any_depth_with_suffixes_in_any_case_and_sorted(tmp_path: Path):
    touch(tmp_path, "b/deep/er/x.PNG", "a.jpeg", "b/y.JpG", "B.png", "ünïcode/é.png", "notes.txt", "z.webp")
    found = scan(tmp_path)
    assert found.names == ("B.png", "a.jpeg", "b/deep/er/x.PNG", "b/y.JpG", "z.webp", "ünïcode/é.png")
    assert found.ignored == ("notes.txt",)


def test_hidden_and_system_files_are_no_pictures(tmp_path: Path):
    touch(tmp_path, "a.png", ".hidden.png", "._a.png", ".ipynb_checkpoints/a.png", "__MACOSX/a.png", "Thumbs.db", "desktop.ini")
    found = scan(tmp_path)
    assert found.names == ("a.png",)
    assert len(found.ignored) == 6


def test_classes_are_top_level_folders_that_hold_pictures(tmp_path: Path):
    found = scan(touch(tmp_path, "dog/1.png", "cat/more/1.png", "empty/readme.txt", ".ipynb_checkpoints/1.png"))
    assert class_names(found) == ("cat", "dog")


def test_a_picture_outside_every_class_folder_is_an_error_that_names_it(tmp_path: Path):
    with pytest.raises(DataError, match=r"1 lie outside, such as stray\.png"):
        class_names(scan(touch(tmp_path, "dog/1.png", "stray.png")))


def test_loops_of_links_end_and_a_link_never_takes_the_place_of_a_real_folder(tmp_path: Path):
    touch(tmp_path, "real/1.png")
    (tmp_path / "a_link").symlink_to("real")
    (tmp_path / "real" / "up").symlink_to("..")
    (tmp_path / "real" / "self").symlink_to(".")
    assert scan(tmp_path).names == ("real/1.png",)


def test_a_linked_folder_and_a_linked_file_are_read(tmp_path: Path):
    touch(tmp_path, "outside/1.png", "data/2.png")
    (tmp_path / "data" / "linked").symlink_to(tmp_path / "outside")
    (tmp_path / "data" / "3.png").symlink_to(tmp_path / "outside" / "1.png")
    assert scan(tmp_path / "data").names == ("2.png", "3.png", "linked/1.png")


def test_a_quick_look_stops_at_its_limit_and_says_that_it_is_not_complete(tmp_path: Path):
    touch(tmp_path, *(f"{number}.png" for number in range(20)))
    cut, full = scan(tmp_path, Limits(entries=10)), scan(tmp_path, Limits(entries=20))
    assert (cut.complete, len(cut.names)) == (False, 10)
    assert (full.complete, len(full.names)) == (True, 20)


def test_a_look_that_was_cut_knows_the_classes_by_their_folders(tmp_path: Path):
    touch(tmp_path, *(f"{label}/{number}.png" for label in "abc" for number in range(20)))
    found = scan(tmp_path, Limits(entries=10))
    assert (found.entries, class_names(found)) == (10, ("a", "b", "c"))


def test_no_time_at_all_ends_the_look_in_a_large_flat_folder(tmp_path: Path):
    touch(tmp_path, *(f"{number}.png" for number in range(600)))
    assert not scan(tmp_path, Limits(seconds=0)).complete


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: None, "does not exist; correct data.source.path"),
        (lambda path: path.touch(), "is a file, image_folder needs a folder"),
        (lambda path: path.mkdir(), r"holds no pictures \(it is empty\); put .png, .jpg, .* files there"),
        (lambda path: touch(path, "a.txt", "b.mp4"), r"holds no pictures \(2 other entries were seen\)"),
    ],
)
def test_a_folder_that_cannot_be_used_is_named_with_the_remedy(make, message: str, tmp_path: Path):
    make(tmp_path / "here")
    with pytest.raises(DataError, match=f"here {message}"):
        scan(tmp_path / "here")


def test_a_name_that_is_not_utf8_can_be_printed():
    assert printable(b"a\xff.png".decode("utf-8", "surrogateescape")) == "a\\udcff.png"


def test_a_link_to_itself_is_a_bad_file_among_others_not_the_end_of_the_folder(tmp_path: Path):
    touch(tmp_path, "a.png")
    (tmp_path / "loop.png").symlink_to("loop.png")
    assert scan(tmp_path).names == ("a.png", "loop.png")
