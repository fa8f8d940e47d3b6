"""run.json: stable keys, every start kept, damage named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gantrain.errors import RunError
from gantrain.rundir.record import RunRecord, Start, Versions

VERSIONS = Versions(gantrain="0.1.0", tensorflow="2.21.0", keras="3.15.1", numpy="2.4.6", python="3.11.7")


def record() -> RunRecord:
    return RunRecord(name="quickstart", spec_hash="abc", versions=VERSIONS, device="cpu", data_fingerprint="f00")


def _start(step: int | None, python: str = "3.11.7") -> Start:
    versions = VERSIONS.model_copy(update={"python": python})
    return Start(time="2026-01-02T03:04:05Z", pid=7, host="here", resumed_from_step=step, versions=versions)


def test_the_keys_of_the_file_are_these(tmp_path: Path) -> None:
    record().started(_start(None)).save(tmp_path / "run.json")
    tree = json.loads((tmp_path / "run.json").read_text())
    assert list(tree) == [
        "format", "name", "spec_hash", "versions", "device", "data_fingerprint",
        "skipped_files", "status", "exit_reason", "starts",
    ]  # fmt: skip
    assert list(tree["starts"][0]) == ["time", "pid", "host", "resumed_from_step", "versions", "device"]
    assert tree["versions"] == {
        "gantrain": "0.1.0",
        "tensorflow": "2.21.0",
        "keras": "3.15.1",
        "numpy": "2.4.6",
        "python": "3.11.7",
    }


def test_a_saved_record_loads_as_it_was(tmp_path: Path) -> None:
    before = record().started(_start(None)).ended("diverged", "loss/generator is not finite at step 12")
    before.save(tmp_path / "run.json")
    assert RunRecord.load(tmp_path / "run.json") == before


def test_a_new_start_is_added_and_sets_the_run_going_again() -> None:
    run = record().started(_start(None)).ended("interrupted", "SIGTERM").started(_start(25, python="3.12.1"))
    assert [start.resumed_from_step for start in run.starts] == [None, 25]
    assert (run.status, run.exit_reason, run.versions.python) == ("running", None, "3.12.1")


@pytest.mark.parametrize("size", [0, 1, 40, -3])
def test_a_damaged_file_is_named(tmp_path: Path, size: int) -> None:
    path = tmp_path / "run.json"
    record().save(path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(RunError, match=f"{path} is damaged.*restore it from a copy, or start a new run"):
        RunRecord.load(path)


def test_a_wrong_value_is_named_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    record().save(path)
    path.write_text(path.read_text().replace('"running"', '"sleeping"'))
    with pytest.raises(RunError, match=r"status: Input should be 'running'"):
        RunRecord.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=rf"cannot read {tmp_path}/run.json: it does not exist"):
        RunRecord.load(tmp_path / "run.json")
