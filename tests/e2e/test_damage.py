"""Each file of a run, damaged in each way: named, never resumed wrongly, never a traceback, nothing deleted."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.command import here, process
from tests.e2e.damages import DAMAGES, damaged_copies, files_of
from tests.e2e.test_fit import assert_same_numbers, without_timings

CHECKPOINT = Path("checkpoints/step-00000060")


@pytest.fixture(scope="session")
def other(config, tmp_path_factory):
    """A run of another seed."""
    run = tmp_path_factory.mktemp("other") / "tiny-001"
    done = process("fit", config, "--run-dir", run, "--set", "seed=8")
    assert done.code == 0, done.err
    return run


@pytest.fixture
def copy(finished, tmp_path):
    return Path(shutil.copytree(finished[0], tmp_path / "copy"))


def named(run: Path, file: Path, text: str) -> bool:
    """The file, or for one of a checkpoint at least that."""
    return str(run / file) in text or (file.parts[0] == "checkpoints" and str((run / file).parent) in text)


def test_fsck_calls_a_finished_run_whole_and_changes_nothing(copy, capsys):
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    done = here(capsys, "fsck", copy)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[-1] == "a resume would start from step-00000060"
    assert all(line.endswith(": whole") for line in lines[:-1])
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_fsck_names_every_damage_of_every_file(finished, tmp_path, capsys):
    stranger = tmp_path / "stranger"
    shutil.copytree(finished[0], stranger)
    for path in stranger.rglob("*"):
        if path.is_file():
            path.write_bytes(b"of another run")
    tried = set()
    for file, name, run in damaged_copies(finished[0], stranger, tmp_path / "damaged"):
        done = here(capsys, "fsck", run)
        assert done.code == 5, (file, name, done.out)
        place = str(CHECKPOINT) if file.parent == CHECKPOINT else str(file)
        assert any(line.startswith(place + ": ") and not line.endswith(": whole") for line in done.out.splitlines()), (file, name)
        assert "Traceback" not in done.err
        tried.add((file, name))
        shutil.rmtree(run)
    assert tried == set(itertools.product(files_of(finished[0]), DAMAGES))


def test_a_damaged_record_is_set_aside_and_the_run_goes_on(copy, finished, config, capsys):
    (copy / "run.json").write_text("{")
    done = here(capsys, "fit", config, "--run-dir", copy, "--set", "training.steps=62")
    assert done.code == 0, done.err
    assert f"{copy / 'run.json'} is damaged" in done.err
    assert "set aside as damaged-1-run.json" in done.err
    assert (copy / "damaged-1-run.json").read_text() == "{"
    assert [start["resumed_from_step"] for start in json.loads((copy / "run.json").read_text())["starts"]] == [60]
    assert without_timings(copy)[: len(without_timings(finished[0]))] == without_timings(finished[0])


def test_a_run_whose_checkpoints_are_gone_does_not_lose_its_metrics(copy, config, capsys):
    lines = (copy / "metrics.jsonl").read_bytes()
    shutil.rmtree(copy / "checkpoints")
    done = here(capsys, "fit", config, "--run-dir", copy)
    assert done.code == 5
    assert str(copy / "checkpoints") in done.err
    assert (copy / "metrics.jsonl").read_bytes() == lines


def test_a_setting_changed_behind_the_runs_back_is_not_resumed(copy, capsys):
    path = copy / "spec.resolved.yaml"
    path.write_text(path.read_text().replace("steps: 60", "steps: 62"))
    done = here(capsys, "fit", "--resume", copy)
    assert done.code == 5
    assert f"{path} is missing or damaged (its contents changed" in done.err
    shutil.copy(copy / CHECKPOINT / "spec.resolved.yaml", path)  # what the message says
    assert here(capsys, "fit", "--resume", copy).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("part", [".proofs.jsonl", "checkpoints", "log.txt", "metrics.jsonl", "run.json", "samples", "spec"])
def test_every_damage_is_named_by_fit_which_ends_with_its_numbers_or_with_5(finished, other, config, tmp_path, capsys, part):
    for file, name, run in damaged_copies(finished[0], other, tmp_path / "damaged"):
        if not str(file).startswith(part):
            continue
        for arguments in (("fit", config, "--run-dir"), ("fit", "--resume")):
            attempt = Path(shutil.copytree(run, tmp_path / "attempt"))
            before = {path.relative_to(attempt) for path in attempt.rglob("*") if path.is_file()}
            done = here(capsys, *arguments, attempt)
            case = (file, name, arguments[1], done.err)
            assert done.code in (0, 5), case
            assert "Traceback" not in done.err, case
            assert named(attempt, file, done.err), case
            gone = {path for path in before if not (attempt / path).exists()}
            asides = {
                path.name.split("-", 2)[2] for path in attempt.rglob("*-*-*") if path.name.startswith(("damaged-", "replaced-"))
            }
            assert all(path.name in asides or path.parent.name in asides for path in gone), case
            if done.code == 0 and file.name != "metrics.jsonl" and file.parts[0] == "checkpoints":
                shutil.rmtree(next(attempt.glob("checkpoints/replaced-*"), attempt / "none"), ignore_errors=True)
                assert_same_numbers(finished[0], attempt)
            shutil.rmtree(attempt)
