"""Task history through the command line: train, go on after an interruption, predict, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from gantrain.cli.main import main
from gantrain.errors import UsageError
from gantrain.prediction import predict_file
from tests.e2e.command import here
from tests.helpers import tiny_spec
from tests.history_helpers import history_tree

COUNT = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A config, its data as npz, and a finished run of 20 steps."""
    folder = tmp_path_factory.mktemp("history")
    random = np.random.default_rng(0)
    inputs = random.normal(size=[COUNT, 5]).astype(np.float32)
    ids = np.repeat(np.array(["a", "b", "c"]), [25, 20, 15])
    np.savez(folder / "data.npz", inputs=inputs, targets=random.uniform(0, 2, COUNT), ids=ids)
    source = {"name": "arrays", "path": "data.npz", "key": "inputs", "targets_key": "targets", "sequence_key": "ids"}
    changes = {"data.source": source, "training": {"steps": 20}, "output": {"log_every": 5, "checkpoint_every": 10}}
    (folder / "history.yaml").write_text(yaml.safe_dump(history_tree(changes)))
    return folder


@pytest.fixture(scope="module")
def finished(folder) -> Path:
    with pytest.raises(SystemExit) as end:
        main(["fit", str(folder / "history.yaml"), "--run-dir", str(folder / "run"), "--quiet"])
    assert end.value.code == 0
    return folder / "run"


def metrics(run: Path) -> list[dict]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in ("images_per_sec", "input_wait_share")} for line in lines]


def test_a_run_leaves_metrics_pictures_of_z_and_checkpoints(finished):
    found = metrics(finished)
    assert [line["step"] for line in found] == [5, 10, 15, 20]
    assert {"loss/model", "norm/window", "grad_norm/model"} <= set(found[0])
    assert {path.name for path in (finished / "samples").iterdir()} >= {"step-00000000.png", "step-00000020.png"}


@pytest.mark.slow  # tests/integration/test_history.py shows the same without the command line
def test_a_run_that_goes_on_from_the_middle_ends_with_the_same_bytes(folder, finished, capsys):
    run = folder / "halted"
    half = here(capsys, "fit", folder / "history.yaml", "--run-dir", run, "--quiet", "--set", "training.steps=13")
    assert half.code == 0, half.err
    rest = here(capsys, "fit", "--resume", run, "--quiet", "--set", "training.steps=20")
    assert rest.code == 0, rest.err
    states = [json.loads((place / "checkpoints/step-00000020/manifest.json").read_text())["files"] for place in (run, finished)]
    assert {name: facts for name, facts in states[0].items() if name.startswith("state")} == {
        name: facts for name, facts in states[1].items() if name.startswith("state")
    }
    assert [line for line in metrics(run) if line["step"] != 13] == metrics(finished)


def predicted(capsys, finished, inputs, out):
    done = here(capsys, "predict", finished, inputs, "--out", out)
    assert done.code == 0, done.err
    assert done.out.strip() == str(out)
    with np.load(out) as found:
        return found["outputs"], found["Z"]


def test_predict_writes_outputs_and_their_windows_which_end_where_a_sequence_ends(folder, finished, tmp_path, capsys):
    outputs, z = predicted(capsys, finished, folder / "data.npz", tmp_path / "out.npz")
    assert (outputs.shape, z.shape) == ((COUNT, 3), (COUNT, 9))
    first = {0, 25, 45}  # of each sequence
    for index in range(COUNT):
        start = max(begin for begin in first if begin <= index)
        window = [outputs[k] if k >= start else np.zeros(3) for k in range(index, index - 3, -1)]
        np.testing.assert_array_equal(z[index], np.concatenate(window))


def test_inputs_alone_are_one_sequence(folder, finished, tmp_path, capsys):
    with np.load(folder / "data.npz") as data:
        np.save(tmp_path / "inputs.npy", data["inputs"].astype(np.float64))
    outputs, z = predicted(capsys, finished, tmp_path / "inputs.npy", tmp_path / "out.npz")
    np.testing.assert_array_equal(z[25, 3:6], outputs[24])


def test_a_checkpoint_of_one_task_is_refused_by_the_command_of_the_other(folder, finished, tmp_path, capsys):
    done = here(capsys, "sample", finished)
    assert (done.code, done.err.count("gantrain predict")) == (2, 1)
    with pytest.raises(UsageError, match="task gan: use gantrain sample"):
        predict_file(tmp_path, tiny_spec(), folder / "data.npz", None)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros([4, 6]), "this network takes numbers [n, 5]"),
        (np.full([4, 5], np.nan), "NaN, infinite"),
        (np.array([["a"] * 5]), "this network takes numbers"),
    ],
)
def test_inputs_that_do_not_fit_are_exit_code_4(finished, tmp_path, capsys, array, message):
    np.save(tmp_path / "x.npy", array)
    done = here(capsys, "predict", finished, tmp_path / "x.npy", "--out", tmp_path / "o.npz")
    assert done.code == 4
    assert message in done.err
    assert not (tmp_path / "o.npz").exists()


def test_other_problems_of_predict_say_what_to_do(folder, finished, tmp_path, capsys):
    np.savez(tmp_path / "two.npz", a=np.zeros([3, 5]), b=np.zeros([3, 5]))
    (tmp_path / "text.csv").write_text("a,b\n1,2\n")
    cases = [
        (("predict", finished, tmp_path / "none.npy"), 4, "does not exist"),
        (("predict", finished, tmp_path), 4, "is a folder"),
        (("predict", finished, tmp_path / "two.npz"), 4, "name that of the inputs 'inputs'"),
        (("predict", finished, tmp_path / "text.csv"), 4, "neither a .npy nor a .npz"),
        (("predict", finished, folder / "data.npz", "--out", tmp_path / "x.csv"), 2, "ends in .npz"),
        (("predict", tmp_path, folder / "data.npz"), 5, "has no checkpoint"),
    ]
    for arguments, code, message in cases:
        done = here(capsys, *arguments)
        assert (done.code, message in done.err) == (code, True), done.err


def test_a_table_is_trained_on_and_predicted_by_the_names_of_its_columns(tmp_path, capsys):
    random = np.random.default_rng(1)
    sizes = random.normal(5, 2, 40)
    rows = [f"{size:.3f},{'xy'[number % 2]},{number // 10},{abs(size):.3f}" for number, size in enumerate(sizes)]
    (tmp_path / "t.csv").write_text("\n".join(["size,kind,who,y", *rows]))
    source = {"name": "csv", "path": "t.csv", "categories": ["kind"], "targets": ["y"], "sequence": "who"}
    changes = {"data.source": source, "training": {"steps": 3}}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(history_tree(changes)))
    done = here(capsys, "fit", tmp_path / "c.yaml", "--run-dir", tmp_path / "run", "--quiet")
    assert done.code == 0, done.err
    outputs, z = predicted(capsys, tmp_path / "run", tmp_path / "t.csv", tmp_path / "o.npz")
    assert not z[10, 3:].any()
    assert z[11, 3:6].tolist() == outputs[10].tolist()
    (tmp_path / "other.csv").write_text("kind,size\ny,5.0\nz,1\n")  # another order, one sequence, a strange name
    done = here(capsys, "predict", tmp_path / "run", tmp_path / "other.csv", "--out", tmp_path / "p.npz")
    assert (done.code, "'z' was not there in training; known are: x, y" in done.err) == (4, True)


@pytest.mark.slow
def test_the_shipped_recipe_learns_what_it_says(tmp_path, capsys):
    config = Path(__file__).parents[2] / "configs" / "history_dnn.yaml"
    done = here(capsys, "fit", config, "--run-dir", tmp_path / "run", "--quiet")
    assert done.code == 0, done.err
    found = metrics(tmp_path / "run")
    assert found[-1]["loss/model"] < 0.05
    assert 7 < found[-1]["norm/window"] < 9
