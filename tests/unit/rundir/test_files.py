"""Atomic files: the old one or the new one, and clear words when the disk refuses."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gantrain.errors import RunError
from gantrain.rundir import files


def _dead_pid() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def _leftover(folder: Path, *, pid: int, token: str = "0123abcd", host: str | None = None) -> Path:
    return folder / f".state.gantrain-tmp.{host or files._HOST}.{pid}.{token}.0"


def test_write_atomically_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    files.write_atomically(path, "old")
    files.write_atomically(path, "néw")
    assert path.read_bytes() == "néw".encode()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_a_full_disk_keeps_the_old_file_and_removes_the_temporary_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    files.write_atomically(path, b"old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match=rf"cannot write {path}: no space left.*make room"):
        files.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EROFS, "the file system is read-only; choose another place"),
        (errno.EACCES, "no permission; choose another place"),
        (errno.EIO, "Input/output error; check the disk"),
    ],
)
def test_a_refusal_of_the_system_becomes_what_where_and_what_to_do(number: int, words: str) -> None:
    with (
        pytest.raises(RunError, match=f"cannot write /somewhere/x: {words}") as caught,
        files.os_errors_explained("write", Path("/somewhere/x")),
    ):
        raise OSError(number, os.strerror(number))
    assert caught.value.exit_code == 5


def test_appending_to_a_full_device_is_a_run_error() -> None:
    with pytest.raises(RunError, match="no space left"):
        files.append_line(Path("/dev/full"), "a line")


def test_appending_after_a_torn_line_starts_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"whole\nto")
    files.append_line(path, "next")
    files.append_line(path, "last")
    assert path.read_bytes() == b"whole\nto\nnext\nlast\n"


def test_only_leftovers_of_dead_processes_of_this_host_are_removed(tmp_path: Path) -> None:
    dead = _dead_pid()
    ours = [_leftover(tmp_path, pid=dead), _leftover(tmp_path, pid=os.getpid())]  # the second: an earlier process with our pid
    directory = tmp_path / f".step-7.gantrain-tmp.{files._HOST}.{dead}.0123abcd.3"
    others = [
        _leftover(tmp_path, pid=os.getppid()),
        _leftover(tmp_path, pid=dead, host="elsewhere"),
        files.temporary_sibling(tmp_path / "state"),
        tmp_path / ".state.tmp",
        tmp_path / "state",
    ]
    for path in [*ours, *others]:
        path.write_bytes(b"x")
    (directory / "deep").mkdir(parents=True)
    assert set(files.remove_leftovers(tmp_path)) == {*ours, directory}
    assert set(tmp_path.iterdir()) == set(others)


def test_two_temporary_names_of_one_path_differ_and_are_recognised(tmp_path: Path) -> None:
    first, second = (files.temporary_sibling(tmp_path / "a") for _ in range(2))
    assert first != second
    assert files.is_temporary(first.name)
    assert not files.is_temporary("a")


def test_what_is_no_regular_file_is_refused_and_left_as_it_is(tmp_path):
    """As root, a rename over /dev/null would replace the device."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RunError, match="not a regular file"):
        files.write_atomically(tmp_path / "pipe", "text")
    assert (tmp_path / "pipe").is_fifo()


def test_a_link_is_followed_not_replaced(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    files.write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
