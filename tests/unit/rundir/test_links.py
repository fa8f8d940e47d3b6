"""Nothing is written through a link of a run directory, soft or hard."""

from __future__ import annotations

import os

import pytest

from gantrain.errors import RunError
from gantrain.rundir.directory import RunDirectory
from gantrain.rundir.files import append_line
from gantrain.rundir.lock import LOCK_NAME, locked


@pytest.fixture
def run(tmp_path):
    return RunDirectory.open_or_create(tmp_path / "run")


@pytest.mark.parametrize(
    "name", ["metrics.jsonl", "run.json", "log.txt", ".proofs.jsonl", "plugins", "samples/reals.png", LOCK_NAME]
)
@pytest.mark.parametrize("target", ["precious.txt", "nowhere"])
def test_a_link_in_the_place_of_a_file_of_a_run_is_refused_and_its_target_stays(run, tmp_path, name, target):
    (tmp_path / "precious.txt").write_text("mine")
    (run.path / name).symlink_to(tmp_path / target)
    with pytest.raises(RunError, match=f"{run.path / name} is a link to {tmp_path / target}"):
        RunDirectory.open_or_create(run.path)
    assert (tmp_path / "precious.txt").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_folders_of_a_run_that_lead_outside_are_refused_and_a_link_to_the_whole_run_is_not(run, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "whole").symlink_to(run.path)
    assert RunDirectory.open_or_create(tmp_path / "whole").checkpoints.is_dir()
    for name in ("samples", "checkpoints"):
        (run.path / name).rmdir()
        (run.path / name).symlink_to(tmp_path / "outside")
        with pytest.raises(RunError, match="is a link to"):
            RunDirectory.open_or_create(run.path)
        (run.path / name).unlink()
    assert not list((tmp_path / "outside").iterdir())


def test_a_lock_never_empties_what_it_links_to(run, tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    (run.path / LOCK_NAME).symlink_to(tmp_path / "precious.txt")
    with pytest.raises(RunError, match="lock"), locked(run.path):
        pass
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_files_that_grow_are_parted_from_a_hard_linked_copy(run, tmp_path):
    append_line(run.metrics_path, "1")
    os.link(run.metrics_path, tmp_path / "copy")
    run.unshare()
    append_line(run.metrics_path, "2")
    assert ((tmp_path / "copy").read_text(), run.metrics_path.read_text()) == ("1\n", "1\n2\n")
    before = run.metrics_path.stat().st_ino
    run.unshare()  # nothing to do
    assert run.metrics_path.stat().st_ino == before
