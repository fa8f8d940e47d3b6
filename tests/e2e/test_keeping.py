"""Which checkpoints stay, and what a run does when nobody listens or the system refuses."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gantrain import stored
from gantrain.rundir.metrics import MetricsLog
from tests.e2e.command import ROOT, here, process, write_config
from tests.e2e.test_fit import assert_same_numbers, metrics, record, steps

POINTS = {
    "data.source": {"name": "gaussian_mixture"},
    "data.range": None,
    "training.steps": 20,
    "output": {
        "log_every": 5, "sample_every": 20, "checkpoint_every": 10, "evaluate_every": 3, "keep_last": 1, "sample_count": 9,
        "keep_best": {"metric": "eval/high_quality", "better": "lower"},
    },
}  # fmt: skip


def test_the_best_checkpoint_stays_and_can_be_drawn_from(tmp_path, capsys):
    config, run = write_config(tmp_path / "points.yaml", POINTS), tmp_path / "run"
    done = here(capsys, "fit", config, "--run-dir", run)
    assert done.code == 0, done.err
    scores = {line["step"]: line["eval/high_quality"] for line in metrics(run) if "eval/high_quality" in line}
    assert list(scores) == [3, 6, 9, 12, 15, 18, 20]
    best = min(scores, key=lambda step: (scores[step], step))
    assert steps(run) == sorted({f"step-{best:08d}", "step-00000020"})
    assert f"at step {best}" in (run / "log.txt").read_text()
    assert here(capsys, "fsck", run).code == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"keep_best": {"metric": "loss/generator", "better": "lower"}, "evaluate_every": 5}, "does not rank checkpoints"),
        ({"keep_best": {"metric": "eval/x", "better": "lower"}}, "no score is ever computed"),
        ({"keep_best": {"metric": "eval/x"}, "evaluate_every": 5}, "better is missing"),
        ({"checkpoint_every": {"minutes": 0}}, "minutes"),
    ],
)
def test_what_cannot_rank_checkpoints_is_refused_with_the_reason(tmp_path, capsys, changes, words):
    config = write_config(tmp_path / "c.yaml", {"output": changes})
    done = here(capsys, "validate-config", config)
    assert done.code == 2
    assert words in done.err


@pytest.mark.slow
def test_checkpoints_by_the_clock_change_no_number(finished, config, tmp_path, capsys):
    run = tmp_path / "run"
    clock = "{minutes: 0.0001}"
    done = here(
        capsys, "fit", config, "--run-dir", run, "--set", f"output.checkpoint_every={clock}", "--set", "training.steps_per_call=7"
    )
    assert done.code == 0, done.err
    name = "checkpoints/step-00000060/state.data-00000-of-00001"
    assert (run / name).read_bytes() == (finished[0] / name).read_bytes()
    assert len(steps(run)) == 3


# ---------------------------------------------------------------- nobody listens


@pytest.mark.slow
@pytest.mark.parametrize("streams", ["| head -1", "2>&1 | head -1", ">&- 2>/dev/null"])
def test_a_closed_pipe_does_not_lose_a_run(finished, config, tmp_path, streams):
    run = tmp_path / "run"
    command = f"set -o pipefail; {sys.executable} -m gantrain fit {config} --run-dir {run} {streams}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert record(run)["status"] == "finished"
    assert_same_numbers(finished[0], run)


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.0, 0.5, 1.5, 3.0, 5.0])
@pytest.mark.parametrize(
    "numbers", [(signal.SIGTERM,), (signal.SIGINT,), (signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT)]
)
def test_signals_during_start_up_end_it_without_a_traceback_and_the_same_command_goes_on(config, tmp_path, after, numbers):
    run = tmp_path / "run"
    command = [sys.executable, "-m", "gantrain", "fit", str(config), "--run-dir", str(run)]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(0.3 + after)
    for number in numbers:
        child.send_signal(number)
        time.sleep(0.01)
    said = child.communicate(timeout=120)[1]
    assert child.returncode in (0, 128 + numbers[0], -numbers[0]), said  # negative: before our first line ran
    if child.returncode > 0:
        assert "Traceback" not in said
    assert process(*command[3:]).code == 0


# ---------------------------------------------------------------- the system refuses


class Refusing:
    """fsync fails from its n-th call on, with an error number of the system."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, code: int) -> None:
        self.calls, fsync = 0, os.fsync

        def fail(handle: int) -> None:
            self.calls += 1
            if self.calls >= number:
                raise OSError(code, os.strerror(code))
            fsync(handle)

        monkeypatch.setattr(os, "fsync", fail)


def all_whole(run: Path) -> bool:
    """Whether each visible checkpoint proves itself."""
    return all(stored.verify(path) for _, path in stored.all_checkpoints(run / "checkpoints"))


ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), list(zip((3, 20, 35, 50, 65), ERRORS, strict=True)))
def test_a_refusal_of_the_disk_is_exit_code_5_and_the_same_command_ends_with_the_same_numbers(
    finished, config, tmp_path, capsys, monkeypatch, number, code
):
    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        refusing = Refusing(patch, number, code)
        done = here(capsys, "fit", config, "--run-dir", run)
        assert refusing.calls >= number
    assert done.code == 5
    assert done.err.count("error: cannot ") == 1, done.err
    assert "Traceback" not in done.err
    assert str(run) in done.err
    assert all_whole(run)
    assert not list(run.rglob("*gantrain-tmp*"))
    done = here(capsys, "fit", config, "--run-dir", run)
    assert done.code == 0, done.err
    assert_same_numbers(finished[0], run)


@pytest.mark.slow
def test_a_directory_that_vanishes_while_it_trains_is_exit_code_5(config, tmp_path, capsys, monkeypatch):
    run, append = tmp_path / "run", MetricsLog.append

    def remove(self, record):
        if record["step"] == 25:
            shutil.rmtree(run, ignore_errors=True)
        append(self, record)

    monkeypatch.setattr(MetricsLog, "append", remove)
    done = here(capsys, "fit", config, "--run-dir", run)
    assert done.code == 5
    assert str(run) in done.err
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_a_disk_that_is_full_of_something_else_leaves_the_last_good_checkpoint(config, tmp_path, capsys):
    mount = tmp_path / "small"
    mount.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=250k", "tmpfs", mount], capture_output=True, check=False).returncode:
        pytest.skip("no right to mount")
    try:
        done = here(capsys, "fit", config, "--run-dir", mount / "run", "--set", "output.keep_last=100")
        assert done.code == 5
        assert "no space left" in done.err.lower()
        assert all_whole(mount / "run")
        assert json.loads((mount / "run" / "run.json").read_text())
    finally:
        subprocess.run(["umount", mount], check=True)
