"""Run directories: numbered without collisions, never mixed with foreign files, found again when unfinished."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gantrain.errors import RunError
from gantrain.rundir.directory import RunDirectory, unfinished_runs
from gantrain.rundir.files import temporary_sibling
from gantrain.rundir.lock import locked
from gantrain.rundir.record import RunRecord, Status, Versions

VERSIONS = Versions(gantrain="0", tensorflow="0", keras="0", numpy="0", python="0")
_CREATE = """
import os, sys
from pathlib import Path
from gantrain.errors import RunError
from gantrain.rundir.directory import RunDirectory
os.getuid() or os.setuid(65534)  # root may write everywhere
try:
    RunDirectory.create_numbered(Path(sys.argv[1]), "toy")
except RunError as error:
    sys.stdout.write(str(error))
"""


def _run(parent: Path, status: Status, spec_hash: str = "same") -> Path:
    run = RunDirectory.create_numbered(parent, "toy")
    RunRecord(name="toy", spec_hash=spec_hash, versions=VERSIONS, device="cpu", status=status).save(run.run_json)
    return run.path


def test_numbers_go_up_from_one_and_gaps_are_not_reused(tmp_path: Path) -> None:
    parent = tmp_path / "runs"
    assert RunDirectory.create_numbered(parent, "toy").path == parent / "toy-001"
    (parent / "toy-007").mkdir()
    (parent / "toy-x-050").mkdir()
    (parent / "toy-008.txt").touch()
    assert RunDirectory.create_numbered(parent, "toy").path == parent / "toy-008"
    (parent / "toy-999").touch()
    assert RunDirectory.create_numbered(parent, "toy").path == parent / "toy-1000"


def test_racing_starts_get_different_directories(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        runs = list(pool.map(lambda _: RunDirectory.create_numbered(tmp_path, "toy").path.name, range(64)))
    assert sorted(runs) == [f"toy-{number:03d}" for number in range(1, 65)]


def test_the_layout_is_the_documented_one(tmp_run_dir: Path) -> None:
    run = RunDirectory.open_or_create(tmp_run_dir)
    names = [run.spec_path, run.resolved_path, run.run_json, run.log_path, run.metrics_path, run.samples, run.checkpoints]
    assert [path.relative_to(tmp_run_dir).as_posix() for path in names] == [
        "spec.yaml", "spec.resolved.yaml", "run.json", "log.txt", "metrics.jsonl", "samples", "checkpoints",
    ]  # fmt: skip
    assert sorted(path.name for path in tmp_run_dir.iterdir()) == ["checkpoints", "samples"]
    assert run.name == "test-001"


def test_a_run_killed_before_its_first_record_can_be_opened_again(tmp_run_dir: Path) -> None:
    run = RunDirectory.open_or_create(tmp_run_dir)
    run.spec_path.write_text("name: x")
    temporary_sibling(run.run_json).write_text("{")
    with locked(run.path):
        assert RunDirectory.open_or_create(tmp_run_dir) == run


def test_a_directory_with_foreign_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(RunError, match=r"is not a run directory \(it holds thesis.tex\); give a new name"):
        RunDirectory.open_or_create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_users_notes_in_a_real_run_directory_are_welcome(tmp_path: Path) -> None:
    path = _run(tmp_path, "interrupted")
    (path / "notes.md").touch()
    assert RunDirectory.open_or_create(path).path == path
    assert RunDirectory.open_existing(path).path == path


def test_opening_what_is_no_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=f"there is no run directory {tmp_path}/missing"):
        RunDirectory.open_existing(tmp_path / "missing")
    with pytest.raises(RunError, match=r"has no run.json"):
        RunDirectory.open_existing(tmp_path)


@pytest.mark.parametrize("make", [RunDirectory.open_or_create, lambda path: RunDirectory.create_numbered(path, "toy")])
def test_a_file_in_the_place_of_a_directory_is_a_run_error(tmp_path: Path, make: object) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(RunError, match="a file is in the place of a directory"):
            make(path)  # type: ignore[operator]


def test_a_read_only_parent_is_a_run_error(tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, "-c", _CREATE, "/usr"], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("cannot create the directory /usr/toy-001: ")
    assert any(words in result.stdout for words in ("no permission; choose another place", "read-only; choose another place"))


def test_unfinished_runs_are_those_of_the_same_spec_that_nobody_runs(tmp_path: Path) -> None:
    first = _run(tmp_path, "interrupted")
    _run(tmp_path, "finished")
    _run(tmp_path, "failed", spec_hash="other")
    busy = _run(tmp_path, "running")
    killed = _run(tmp_path, "running")
    (_run(tmp_path, "running") / "run.json").write_text("{")
    with locked(busy):
        assert unfinished_runs(tmp_path, "toy", "same") == [killed, first]
    assert unfinished_runs(tmp_path, "toy", "same") == [killed, busy, first]
    assert unfinished_runs(tmp_path / "missing", "toy", "same") == []


def test_tidy_looks_into_the_run_its_checkpoints_and_its_samples_only(tmp_run_dir: Path) -> None:
    run = RunDirectory.open_or_create(tmp_run_dir)
    own = [temporary_sibling(folder / "x") for folder in (run.path, run.checkpoints, run.samples)]
    dead = [
        path.with_name(path.name.replace(path.name.split(".")[-2], "00000000")) for path in own
    ]  # an earlier process, our pid
    user = run.path / "notes" / dead[0].name
    user.parent.mkdir()
    for path in [*own, *dead, user]:
        path.touch()
    assert sorted(run.tidy()) == sorted(dead)
    assert user.exists()
    assert all(path.exists() for path in own)


def test_a_name_that_is_not_utf_8_is_refused_before_anything_is_trained(tmp_path):
    with pytest.raises(RunError, match="is not UTF-8"):
        RunDirectory.open_or_create(tmp_path / "\udcff\udcfe")
