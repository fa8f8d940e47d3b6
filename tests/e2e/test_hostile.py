"""Runs that others have been at: one message with the cause and the place, the right exit code, nothing lost, nothing outside."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.e2e.command import here
from tests.e2e.hostile import FAULTS
from tests.e2e.test_fit import without_timings

HARMLESS = ("odd neighbours", "a lock of the first process", "a lock of a host that is gone", "samples: file")


def content(run: Path) -> set[str]:
    return {os.fsdecode(os.fsencode(path.name)) for path in run.rglob("*") if path.is_symlink() or not path.is_dir()}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_run_that_others_have_been_at_goes_on_rightly_or_ends_with_5(finished, config, tmp_path, capsys, name):
    run, outside = Path(shutil.copytree(finished[0], tmp_path / "run")), tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.txt").write_text("mine")
    FAULTS[name](run, outside)
    before = content(run)
    looked = here(capsys, "fsck", run)
    assert looked.code in (0, 5)
    done = here(capsys, "fit", config, "--run-dir", run, "--set", "training.steps=62")
    assert done.code in (0, 5), done.err
    assert "Traceback" not in looked.err + done.err
    assert done.err.count("error: ") == (done.code == 5), done.err
    assert [path.name for path in outside.iterdir()] == ["mine.txt"]
    assert (outside / "mine.txt").read_text() == "mine"
    if done.code == 0:
        lines = without_timings(run)
        assert lines[: len(without_timings(finished[0]))] == without_timings(finished[0]) or name.startswith("metrics.jsonl")
        assert [line["step"] for line in lines] == sorted(line["step"] for line in lines)
    kept = content(run)
    gone = {file for file in before if file not in kept and not any(other.endswith(f"-{file}") for other in kept)}
    assert all(file.startswith(("state", "manifest", "step-", "spec.resolved")) for file in gone), gone  # by keep_last
