"""`gantrain fit` and `sample` of task `aae` as a user types them: one tiny supervised run that the tests look at."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from gantrain.data.packaged import digits
from tests.aae_helpers import BY_LABEL, aae_tree
from tests.e2e.command import here, process

pytestmark = pytest.mark.slow
CHANGES = {
    **BY_LABEL,
    "encoder.law": "gaussian",
    "data.range": [0, 1],
    "data.batch_size": 64,
    "data.held_out": "digits",  # the same examples, so that both errors must agree
    "data.epoch_end": "partial",  # 28 whole batches and one of 5
    "training": {"steps": 60},
    "output": {"log_every": 20, "sample_every": 30, "checkpoint_every": 30, "evaluate_every": 30, "sample_count": 6},
}


@pytest.fixture(scope="module")
def aae_config(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("aae") / "tiny.yaml"
    path.write_text(yaml.safe_dump(aae_tree(CHANGES)))
    return path


@pytest.fixture(scope="module")
def run(aae_config) -> Path:
    done = process("fit", aae_config, "--run-dir", aae_config.parent / "run", "--quiet")
    assert (done.code, done.err) == (0, "")
    return aae_config.parent / "run"


def arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        return {key: archive[key] for key in archive}


@pytest.fixture
def inputs(tmp_path) -> Path:
    source = digits(None, Path())  # type: ignore[arg-type]
    indices = np.arange(70)
    np.savez(tmp_path / "inputs.npz", inputs=source.load(indices), labels=source.labels[indices])
    return tmp_path / "inputs.npz"


def test_a_run_has_lines_of_metrics_scores_and_pictures_of_samples_and_reconstructions(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    logged = next(line for line in lines if "loss/reconstruction" in line)
    assert {"loss/discriminator", "loss/regularisation", "accuracy/discriminator", "grad_norm/regularisation"} <= logged.keys()
    scores = [line for line in lines if "eval/code_mmd" in line]
    assert [line["step"] for line in scores] == [30, 60]
    assert scores[1]["eval/reconstruction_mse"] < scores[0]["eval/reconstruction_mse"] < 0.25
    assert scores[0]["eval/code_mmd_floor"] < 0.1
    assert [line["eval/held_out_mse"] for line in scores] == [line["eval/reconstruction_mse"] for line in scores]
    assert lines[-2]["images_seen"] == 60 * 64
    names = sorted(path.name for path in (run / "samples").iterdir())
    assert names[1:3] == ["step-00000000-reconstructions.png", "step-00000000.png"]
    assert len(names) == 7


def test_a_run_that_was_interrupted_ends_with_the_same_bytes(run, aae_config, tmp_path, capsys):
    other = tmp_path / "other"
    assert here(capsys, "fit", aae_config, "--run-dir", other, "--quiet", "--set", "training.steps=30").code == 0
    done = here(capsys, "fit", aae_config, "--run-dir", other, "--quiet")
    assert done.code == 0, done.err
    for name in ("samples/step-00000060.png", "samples/step-00000060-reconstructions.png"):
        assert (other / name).read_bytes() == (run / name).read_bytes()
    timed = {"images_per_sec", "input_wait_share"}
    ours, theirs = (
        [{key: value for key, value in json.loads(line).items() if key not in timed} for line in path.read_text().splitlines()]
        for path in (other / "metrics.jsonl", run / "metrics.jsonl")
    )
    assert [line for line in ours if line["step"] > 30] == [line for line in theirs if line["step"] > 30]


def test_codes_and_reconstructions_of_a_file_belong_together(run, inputs, tmp_path, capsys):
    assert here(capsys, "sample", run, "--encode", inputs, "--as", "npz", "--out", tmp_path / "new/codes.npz").code == 0
    assert here(capsys, "sample", run, "--reconstruct", inputs, "--as", "npz", "--out", tmp_path / "r.npz").code == 0
    codes, rebuilt = arrays(tmp_path / "new/codes.npz"), arrays(tmp_path / "r.npz")
    assert (codes["codes"].shape, codes["stds"].shape) == ((70, 2), (70, 2))
    assert (codes["stds"] > 0).all()
    assert np.array_equal(rebuilt["inputs"], arrays(inputs)["inputs"])
    assert np.array_equal(rebuilt["labels"], arrays(inputs)["labels"])
    assert rebuilt["reconstructions"].shape == (70, 8, 8, 1)
    error = np.mean(np.square(rebuilt["inputs"].astype(float) - rebuilt["reconstructions"])) / 255**2
    assert error < 0.12  # a tenth above the variance of the digits' pixels, 0.14, would be no reconstruction


def test_a_picture_is_encoded_as_its_numbers_are(run, inputs, tmp_path, capsys):
    pictures = arrays(inputs)["inputs"]
    for index in range(3):
        Image.fromarray(pictures[index, :, :, 0]).save(tmp_path / f"{index}.png")
    (tmp_path / "inputs.npz").rename(tmp_path.parent / "inputs.npz")
    for path, name in ((tmp_path, "folder"), (tmp_path / "0.png", "one"), (tmp_path.parent / "inputs.npz", "all")):
        out = tmp_path.parent / f"{name}.npz"
        assert here(capsys, "sample", run, "--encode", path, "--as", "npz", "--out", out).code == 0
    whole = arrays(tmp_path.parent / "all.npz")["codes"]
    np.testing.assert_allclose(arrays(tmp_path.parent / "folder.npz")["codes"], whole[:3], atol=1e-6)
    np.testing.assert_allclose(arrays(tmp_path.parent / "one.npz")["codes"], whole[:1], atol=1e-6)


def test_grids_show_samples_pairs_and_the_plane(run, inputs, tmp_path, capsys):
    common = ("--out", tmp_path / "new" / "a.png")
    sizes = []
    for wish in (("--count", 6, "--grid", "2x3"), ("--reconstruct", inputs, "--grid", "7x10"), ("--latent-grid", "--class", "3")):
        assert here(capsys, "sample", run, *wish, *common).code == 0
        with Image.open(tmp_path / "new" / "a.png") as picture:
            sizes.append(picture.size)
    assert sizes == [(32, 22), (202, 72), (162, 162)]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (("--encode", "INPUTS"), "use --as npz"),
        (("--encode", "INPUTS", "--reconstruct", "INPUTS"), "--reconstruct does not go with --encode"),
        (("--latent-grid", "--count", "3"), "--latent-grid does not go with --count"),
        (("--weights", "ema"), "no moving average"),
        (("--class", "ten"), "no such class"),
        (("--reconstruct", "INPUTS", "--as", "images"), "--as grid"),
        (("--reconstruct", "UNLABELLED"), "give --class NAME"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused_with_what_to_write(run, inputs, tmp_path, capsys, wish, said):
    np.save(tmp_path / "unlabelled.npy", arrays(inputs)["inputs"])
    places = {"INPUTS": inputs, "UNLABELLED": tmp_path / "unlabelled.npy"}
    done = here(capsys, "sample", run, *[places.get(word, word) for word in wish])
    assert done.code == 2
    assert said in done.err


def test_inputs_out_of_range_or_of_another_shape_are_errors_of_the_data(run, inputs, tmp_path, capsys):
    np.save(tmp_path / "wide.npy", arrays(inputs)["inputs"].astype(np.float32) * 2)
    np.save(tmp_path / "other.npy", np.zeros((3, 9, 9), np.uint8))
    np.save(tmp_path / "fractions.npy", arrays(inputs)["inputs"] / np.float32(255))
    cases = (("wide.npy", "scale them"), ("other.npy", "this network takes"), ("fractions.npy", "fractions from 0 to 1"))
    for name, said in cases:
        done = here(capsys, "sample", run, "--encode", tmp_path / name, "--as", "npz")
        assert done.code == 4
        assert said in done.err


def test_the_roads_of_an_autoencoder_are_refused_for_a_gan(finished, inputs, capsys):
    done = here(capsys, "sample", finished[0], "--encode", inputs, "--as", "npz")
    assert done.code == 2
    assert "task aae" in done.err


def test_a_table_is_encoded_and_reconstructed_as_a_table(tmp_path, capsys):
    generator = np.random.default_rng(1)
    rows = ["a,b,c"] + [f"{x:.3f},{2 * x:.3f},{'yes' if x > 0 else 'no'}" for x in generator.normal(size=200)]
    (tmp_path / "table.csv").write_text("\n".join(rows) + "\n")
    changes = {
        "data.source": {"name": "csv", "path": "table.csv", "categories": ["c"]},
        "data.range": None,
        "prior.size": 2,
        "training": {"steps": 10},
    }
    (tmp_path / "table.yaml").write_text(yaml.safe_dump(aae_tree(changes)))
    assert here(capsys, "fit", tmp_path / "table.yaml", "--run-dir", tmp_path / "run", "--quiet").code == 0
    out = tmp_path / "back.csv"
    done = here(capsys, "sample", tmp_path / "run", "--reconstruct", tmp_path / "table.csv", "--as", "csv", "--out", out)
    assert done.code == 0, done.err
    back = out.read_text().splitlines()
    assert back[0] == "a,b,c"
    assert len(back) == 201
    assert {line.split(",")[2] for line in back[1:]} <= {"yes", "no"}
    done = here(
        capsys, "sample", tmp_path / "run", "--encode", tmp_path / "table.csv", "--as", "npz", "--out", tmp_path / "c.npz"
    )
    assert arrays(tmp_path / "c.npz")["codes"].shape == (200, 2)
