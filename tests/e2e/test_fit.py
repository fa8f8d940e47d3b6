"""`gantrain fit` as a user types it."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain.rundir.lock import locked
from tests.e2e.command import here, process, signalled, write_config

TIMINGS = ("images_per_sec", "input_wait_share")
KEYS = ["step", "images_seen", "epoch", "loss/generator", "loss/discriminator", "logits/real", "logits/fake"]
KEYS += ["grad_norm/generator", "grad_norm/discriminator", *TIMINGS]


def metrics(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def without_timings(run: Path) -> list[dict]:
    return [{key: value for key, value in line.items() if key not in TIMINGS} for line in metrics(run)]


def record(run: Path) -> dict:
    return json.loads((run / "run.json").read_text())


def steps(run: Path) -> list[str]:
    return sorted(path.name for path in (run / "checkpoints").iterdir())


def assert_same_numbers(run: Path, other: Path) -> None:
    """Equal metrics, timings aside, equal bytes of every tensor and of every picture."""
    assert without_timings(run) == without_timings(other)
    assert steps(run) == steps(other)
    for name in steps(run):
        for file in ("state.index", "state.data-00000-of-00001"):
            assert (run / "checkpoints" / name / file).read_bytes() == (other / "checkpoints" / name / file).read_bytes(), name
    pictures = sorted(path.name for path in (run / "samples").iterdir())
    assert pictures == sorted(path.name for path in (other / "samples").iterdir())
    assert all((run / "samples" / name).read_bytes() == (other / "samples" / name).read_bytes() for name in pictures)


# ---------------------------------------------------------------- a run in one go


def test_a_run_leaves_the_files_of_the_contract(finished, config):
    run, _ = finished
    names = {path.name for path in run.iterdir() if not path.name.startswith(".")}
    assert names == {"spec.yaml", "spec.resolved.yaml", "run.json", "log.txt", "metrics.jsonl", "samples", "checkpoints"}
    assert {path.name for path in (run / "samples").iterdir()} == {
        "reals.png",
        *(f"step-{step:08d}.png" for step in (0, 20, 40, 60)),
    }
    assert steps(run) == ["step-00000040", "step-00000050", "step-00000060"]
    files = {path.name for path in (run / "checkpoints" / "step-00000060").iterdir()}
    assert files == {"state.index", "state.data-00000-of-00001", "spec.resolved.yaml", "manifest.json"}
    assert (run / "spec.yaml").read_text() == config.read_text()
    assert not list(run.rglob("*gantrain-tmp*"))
    with Image.open(run / "samples" / "step-00000060.png") as picture:
        assert picture.mode == "L"
    log = (run / "log.txt").read_text()
    assert (log.count(": levels "), log.count("clipped")) == (4, 0)  # of each grid; tanh does not leave its range


def test_metrics_have_the_keys_of_the_contract_and_finite_numbers_on_exact_steps(finished):
    everything = metrics(finished[0])
    lines, health = everything[::2], everything[1::2]  # health has lines of its own
    assert [line["step"] for line in lines] == [line["step"] for line in health] == list(range(5, 61, 5))
    assert all(list(line) == KEYS for line in lines)
    assert all(key == "step" or key.startswith("health/") for line in health for key in line)
    assert all(np.isfinite(list(line.values())).all() for line in lines)
    assert (lines[-1]["images_seen"], lines[-1]["epoch"]) == (60 * 64, pytest.approx(60 * 64 / 1797))
    assert lines[-1]["images_per_sec"] > 0
    facts = record(finished[0])
    assert (facts["status"], facts["exit_reason"], len(facts["starts"])) == ("finished", "all steps done", 1)


def test_the_terminal_shows_the_plan_and_the_end_and_nothing_of_tensorflow(finished):
    run, done = finished
    for words in ("1,797 examples 8x8x1 from digits", "generator mlp", "non_saturating", "60 steps", "on cpu", str(run)):
        assert words in done.out
    for line in done.err.splitlines():
        assert line.startswith(("step ", str(run), "warning")) or "warning [" in line, line
    assert "step 60/60" in done.err
    assert "\r" not in done.out + done.err


# ---------------------------------------------------------------- interrupted


@pytest.mark.slow  # test_crashes.py has a faster one
def test_after_kill_9_the_same_command_ends_with_the_same_numbers(finished, config, tmp_path):
    run = tmp_path / "killed"
    command = ("fit", config, "--run-dir", run)
    assert signalled(25, signal.SIGKILL, *command).code == -signal.SIGKILL
    assert steps(run) == ["step-00000000", "step-00000010", "step-00000020"]
    assert record(run)["status"] == "running"
    done = process(*command)
    assert done.code == 0, done.err
    assert_same_numbers(finished[0], run)
    assert [start["resumed_from_step"] for start in record(run)["starts"]] == [None, 20]


def test_ctrl_c_and_sigterm_end_with_a_checkpoint_and_resume_ends_with_the_same_numbers(finished, config, tmp_path, capsys):
    run = tmp_path / "stopped"
    first = signalled(25, signal.SIGINT, "fit", config, "--run-dir", run)
    assert first.code == 130
    assert "Traceback" not in first.err
    assert steps(run)[-1] == "step-00000025"
    assert record(run)["status"] == "interrupted"
    second = signalled(40, signal.SIGTERM, "fit", "--resume", run)
    assert second.code == 143
    assert steps(run)[-1] == "step-00000040"  # the due one, not written twice
    assert here(capsys, "fit", "--resume", run).code == 0
    assert [start["resumed_from_step"] for start in record(run)["starts"]] == [None, 25, 40]
    assert (run / "spec.yaml").read_text() == config.read_text()
    assert_same_numbers(finished[0], run)


# ---------------------------------------------------------------- going on, or refusing to


@pytest.fixture
def copy(finished, tmp_path) -> Path:
    shutil.copytree(finished[0], tmp_path / "copy")
    return tmp_path / "copy"


def test_a_finished_run_says_so_and_goes_on_when_there_are_more_steps(copy, capsys):
    before = {
        path: path.read_bytes()
        for path in copy.rglob("*")
        if path.is_file() and path.name not in ("run.json", "log.txt", ".lock")
    }
    again = here(capsys, "fit", "--resume", copy)
    assert again.code == 0
    assert "has all its 60 steps" in again.out
    assert {path: path.read_bytes() for path in before} == before
    more = here(capsys, "fit", "--resume", copy, "--set", "training.steps=70", "--quiet")
    assert (more.code, more.out) == (0, "")
    assert steps(copy)[-1] == "step-00000070"
    assert [line["step"] for line in metrics(copy)][::2] == list(range(5, 71, 5))
    less = here(capsys, "fit", "--resume", copy, "--set", "training.steps=65")
    assert less.code == 5
    assert "step 70" in less.err


def test_another_spec_on_an_existing_run_is_refused_key_by_key(copy, config, capsys):
    done = here(capsys, "fit", config, "--run-dir", copy, "--set", "latent.size=9", "--set", "output.log_every=7")
    assert done.code == 5
    assert "latent.size: 4 there, 9 now" in done.err
    assert "log_every" not in done.err
    assert "Traceback" not in done.err


def test_a_run_directory_in_use_is_refused(copy, config, capsys):
    with locked(copy):
        done = here(capsys, "fit", config, "--run-dir", copy)
    assert done.code == 5
    assert "in use by process" in done.err


def test_a_truncated_newest_checkpoint_costs_only_the_steps_since_the_one_before(copy, finished, config, capsys):
    state = copy / "checkpoints" / "step-00000060" / "state.data-00000-of-00001"
    state.write_bytes(state.read_bytes()[:100])
    done = here(capsys, "fit", config, "--run-dir", copy)
    assert done.code == 0
    assert str(state) in done.err
    assert without_timings(copy) == without_timings(finished[0])
    whole = finished[0] / "checkpoints" / "step-00000060" / "state.data-00000-of-00001"
    assert state.read_bytes() == whole.read_bytes()
    assert "replaced-1-step-00000060" in steps(copy)  # nothing is deleted


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_text(path.read_text()[:300])])
def test_a_damaged_spec_of_the_run_is_the_runs_fault_not_the_users(copy, capsys, damage):
    damage(copy / "spec.resolved.yaml")
    done = here(capsys, "fit", "--resume", copy)
    assert done.code == 5
    assert f"restore it from the run's checkpoints/step-*/{'spec.resolved.yaml'}" in done.err


def test_a_run_whose_checkpoints_are_all_damaged_is_an_error_and_nothing_is_lost(copy, capsys):
    for path in (copy / "checkpoints").iterdir():
        (path / "manifest.json").write_text("{}")
    lines = (copy / "metrics.jsonl").read_bytes()
    done = here(capsys, "fit", "--resume", copy)
    assert done.code == 5
    assert "no checkpoint" in done.err
    assert "Traceback" not in done.err
    assert (copy / "metrics.jsonl").read_bytes() == lines


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize("kind", ["missing", "empty", "corrupt"])
def test_pictures_that_cannot_be_read_are_exit_code_4_with_the_path(kind, tmp_path, capsys):
    folder = tmp_path / "pictures"
    if kind != "missing":
        folder.mkdir()
    if kind == "corrupt":
        for index in range(9):
            Image.new("L", (8, 8), index).save(folder / f"{index}.png")
        bad = folder / "5.png"
        bad.write_bytes(bad.read_bytes()[:40])
    source = {"name": "image_folder", "path": str(folder), "height": 8, "width": 8, "channels": 1}
    config = write_config(tmp_path / "c.yaml", {"data.source": source, "data.batch_size": 4})
    done = here(capsys, "fit", config, "--run-dir", tmp_path / "run")
    assert done.code == 4
    assert str(folder) in done.err
    assert ("5.png" in done.err) == (kind == "corrupt")
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "arguments", [("--run-dir", "file/run"), ("--set", "output.dir=file/runs"), ("--run-dir", "/proc/gantrain-run")]
)
def test_an_output_directory_that_cannot_be_written_is_said_at_once(arguments, config, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    done = here(capsys, "fit", config, *arguments)
    assert done.code == (2 if arguments[0] == "--set" else 5)  # what is written in the spec is a problem of the spec
    assert arguments[1].removeprefix("output.dir=") in done.err
    assert "Traceback" not in done.err


def test_a_gpu_that_is_not_there_is_exit_code_2(config, tmp_path, capsys):
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        pytest.skip("there is a GPU")
    done = here(capsys, "fit", config, "--run-dir", tmp_path / "run", "--device", "gpu")
    assert done.code == 2
    assert "no GPU" in done.err
    assert not (tmp_path / "run").exists()


def test_a_dry_run_says_the_plan_and_writes_nothing(config, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = here(capsys, "fit", config, "--dry-run")
    assert done.code == 0
    assert "60 steps" in done.out
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_diverges_is_exit_code_3_with_the_step_and_the_name_and_the_last_good_checkpoint(tmp_path, capsys):
    config = write_config(
        tmp_path / "c.yaml", {"optimizers": {"generator": "adam", "discriminator": {"name": "sgd", "learning_rate": 1e30}}}
    )
    run = tmp_path / "run"
    done = here(capsys, "fit", config, "--run-dir", run)
    assert done.code == 3
    assert "is not finite" in done.err
    assert record(run)["status"] == "diverged"
    assert steps(run) == ["step-00000000"]
    assert "Traceback" not in done.err


@pytest.mark.parametrize("arguments", [(), ("--resume", "x", "y.yaml"), ("--resume", "x", "--run-dir", "z")])
def test_a_command_line_that_means_nothing_is_exit_code_2(arguments, capsys):
    assert here(capsys, "fit", *arguments).code == 2


def test_new_runs_are_numbered_and_an_unfinished_one_is_pointed_out(config, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = ("--set", "training.steps=2", "--set", "output.sample_every=2")
    for number in (1, 2):
        done = here(capsys, "fit", config, *settings)
        assert done.code == 0, done.err
        assert "unfinished" not in done.out
        assert (tmp_path / "runs" / f"tiny-00{number}" / "run.json").exists()
    path = tmp_path / "runs" / "tiny-001" / "run.json"
    path.write_text(path.read_text().replace('"finished"', '"interrupted"'))
    hint = here(capsys, "fit", config, *settings, "--dry-run")
    assert "gantrain fit --resume runs/tiny-001" in hint.out
    assert here(capsys, "fit", "--resume", "runs/tiny-001").code == 0
    assert record(tmp_path / "runs" / "tiny-001")["status"] == "finished"  # it had all its steps


def test_data_may_move_but_not_change(tmp_path, capsys):
    pictures = np.random.default_rng(0).integers(0, 256, (1200, 8, 8, 1), np.uint8)
    for name, values in (("a.npy", pictures), ("moved.npy", pictures), ("changed.npy", 255 - pictures)):
        np.save(tmp_path / name, values)
    changes = {"data.source": {"name": "arrays", "path": "a.npy"}, "training": {"steps": 1}}
    command = ("fit", write_config(tmp_path / "c.yaml", changes), "--run-dir", tmp_path / "run", "--quiet")
    assert here(capsys, *command).code == 0
    assert here(capsys, *command, "--set", "data.source.path=moved.npy", "--set", "training.steps=2").code == 0
    changed = here(capsys, *command, "--set", "data.source.path=changed.npy", "--set", "training.steps=3")
    assert changed.code == 5
    assert "the data changed" in changed.err
    assert steps(tmp_path / "run")[-1] == "step-00000002"
