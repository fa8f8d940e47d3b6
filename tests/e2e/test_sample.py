"""`gantrain sample` as a user types it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.e2e.command import here, process, write_config

NEWEST = "checkpoints/step-00000060"


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        assert picture.mode == "L"
        return np.asarray(picture)


def arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        return {key: archive[key] for key in archive}


@pytest.fixture
def copy(finished, tmp_path) -> Path:
    shutil.copytree(finished[0], tmp_path / "copy")
    return tmp_path / "copy"


def test_the_last_grid_of_the_run_is_drawn_again_to_the_byte_in_a_new_process_without_noise(finished, tmp_path):
    run, _ = finished
    out = tmp_path / "a.png"
    done = process("sample", run, "--count", 5, "--seed", 7, "--out", out)  # 7: the seed of the run
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{out}\n"
    assert out.read_bytes() == (run / "samples" / "step-00000060.png").read_bytes()


def test_grid_images_and_npz_hold_the_same_pictures(finished, tmp_path, capsys):
    run, _ = finished
    common = ("sample", run, "--seed", 3, "--count")
    assert here(capsys, *common, 6, "--grid", "2x3", "--out", tmp_path / "grid.png").code == 0
    assert here(capsys, *common, 70, "--as", "images", "--out", tmp_path / "images").code == 0
    assert here(capsys, *common, 65, "--as", "npz", "--out", tmp_path / "new" / "a.npz").code == 0
    grid = pixels(tmp_path / "grid.png")
    files = sorted((tmp_path / "images").iterdir())
    mixed = here(capsys, *common, 69, "--as", "images", "--out", tmp_path / "images")
    assert (mixed.code, "holds 1 other PNG (00069.png, ...)" in mixed.err) == (2, True)
    assert here(capsys, *common, 70, "--as", "images", "--out", tmp_path / "images").code == 0  # the same again replaces them
    samples = arrays(tmp_path / "new" / "a.npz")["samples"]
    assert grid.shape == (2 * 10 + 2, 3 * 10 + 2)
    assert [path.name for path in files[:2]] == ["00000.png", "00001.png"]
    assert (len(files), samples.shape, samples.dtype) == (70, (65, 8, 8, 1), np.uint8)
    for index in range(6):
        top, left = 2 + index // 3 * 10, 2 + index % 3 * 10
        np.testing.assert_array_equal(grid[top : top + 8, left : left + 8], samples[index, :, :, 0])
    for index in (0, 5, 63, 64):
        np.testing.assert_array_equal(pixels(files[index]), samples[index, :, :, 0])
    assert samples.std() > 1


def test_npz_says_what_it_holds_and_a_batch_size_only_changes_last_bits(finished, tmp_path, capsys):
    run, _ = finished
    facts, samples = {}, {}
    for size in (64, 5):
        out = tmp_path / f"{size}.npz"
        assert here(capsys, "sample", run, "--count", 20, "--as", "npz", "--batch-size", size, "--out", out).code == 0
        samples[size], facts[size] = arrays(out)["samples"], json.loads(str(arrays(out)["facts"]))
    assert facts[64] == {"seed": 0, "weights": "ema", "step": 60, "range": [0.0, 255.0]}
    assert facts[5] == {**facts[64], "batch_size": 5}
    assert np.abs(samples[64].astype(int) - samples[5].astype(int)).max() <= 1


def test_raw_and_averaged_weights_and_two_seeds_and_two_steps_differ(finished, tmp_path, capsys):
    run, _ = finished
    wishes = [(run,), (run, "--weights", "raw"), (run, "--seed", 1), (run / "checkpoints" / "step-00000040",)]
    drawn = []
    for index, wish in enumerate(wishes):
        out = tmp_path / f"{index}.npz"
        assert here(capsys, "sample", *wish, "--count", 4, "--as", "npz", "--out", out).code == 0
        drawn.append(arrays(out)["samples"].tobytes())
    assert len(set(drawn)) == 4
    assert here(capsys, "sample", run / NEWEST, "--count", 4, "--as", "npz", "--out", tmp_path / "a.npz").code == 0
    assert arrays(tmp_path / "a.npz")["samples"].tobytes() == drawn[0]


def test_without_out_the_file_is_named_by_run_step_and_seed(finished, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert here(capsys, "sample", finished[0], "--seed", 5).out == "tiny-001-step-00000060-seed-5.png\n"
    assert pixels(tmp_path / "tiny-001-step-00000060-seed-5.png").shape == (82, 82)


def test_sampling_changes_nothing_in_the_run(copy, tmp_path, capsys):
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    assert here(capsys, "sample", copy, "--out", tmp_path / "a.png").code == 0
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


# ---------------------------------------------------------------- what is damaged or not there


def test_a_damaged_newest_checkpoint_is_passed_over_with_a_warning(copy, tmp_path, capsys):
    state = copy / NEWEST / "state.data-00000-of-00001"
    state.write_bytes(state.read_bytes()[:-1])
    out = tmp_path / "a.npz"
    done = here(capsys, "sample", copy, "--as", "npz", "--out", out)
    assert done.code == 0
    assert str(state) in done.err
    assert json.loads(str(arrays(out)["facts"]))["step"] == 50


@pytest.mark.parametrize("name", ["state.index", "state.data-00000-of-00001", "spec.resolved.yaml", "manifest.json"])
@pytest.mark.parametrize("damage", ["emptied", "deleted"])
def test_a_damaged_checkpoint_that_was_asked_for_by_name_is_exit_code_5_with_the_file(copy, tmp_path, capsys, name, damage):
    file = copy / NEWEST / name
    file.write_bytes(b"") if damage == "emptied" else file.unlink()
    done = here(capsys, "sample", copy / NEWEST, "--out", tmp_path / "a.png")
    assert done.code == 5
    assert str(file) in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "a.png").exists()


@pytest.mark.parametrize("name", ["nowhere", "step-00000001", "runs/checkpoints/step-00000001", ".", "file"])
def test_what_is_no_run_and_no_checkpoint_is_exit_code_5_with_the_path(name, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    done = here(capsys, "sample", tmp_path / name, "--out", tmp_path / "a.png")
    assert done.code == 5
    assert str(tmp_path / name) in done.err
    assert "Traceback" not in done.err


def test_a_run_directory_may_have_any_name(copy, tmp_path, capsys):
    named = copy.rename(copy.with_name("step-by-step"))
    assert here(capsys, "sample", named, "--out", tmp_path / "a.png").code == 0


def test_a_file_that_cannot_be_written_is_exit_code_5(finished, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    done = here(capsys, "sample", finished[0], "--out", tmp_path / "file" / "a.png")
    assert done.code == 5
    assert str(tmp_path / "file" / "a.png") in done.err


@pytest.mark.parametrize(
    ("wish", "word"),
    [
        (("--count", 0), "count"),
        (("--grid", "2x"), "4x8"),
        (("--grid", "1x2", "--count", 3), "holds 2"),
        (("--class", "3"), "--class"),
        (("--seed", -1), "seed"),
        (("--batch-size", 0), "batch-size"),
    ],
)
def test_wishes_that_cannot_be_met_are_exit_code_2(finished, tmp_path, capsys, wish, word):
    done = here(capsys, "sample", finished[0], *wish, "--out", tmp_path / "a.png")
    assert done.code == 2
    assert word in done.err


def test_a_name_that_says_another_format_is_refused(finished, tmp_path, capsys):
    done = here(capsys, "sample", finished[0], "--out", tmp_path / "a.jpg")
    assert done.code == 2
    assert "ends in .png" in done.err
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- other data


def test_a_conditional_run_draws_the_class_that_is_asked_for(tmp_path, capsys):
    nets = {
        "generator.conditioning": "embedding",
        "discriminator.conditioning": "projection",
        "training": {"steps": 1, "ema": None},
    }
    assert here(capsys, "fit", write_config(tmp_path / "c.yaml", nets), "--run-dir", tmp_path / "run", "--quiet").code == 0
    out = tmp_path / "a.npz"
    for wish, labels in ((("--class", "3"), [3] * 12), ((), [*range(10), 0, 1])):
        assert here(capsys, "sample", tmp_path / "run", *wish, "--count", 12, "--as", "npz", "--out", out).code == 0
        assert arrays(out)["labels"].tolist() == labels
    for wish, size in (((), (22, 102)), (("--class", "3"), (42, 32)), (("--grid", "3x4"), (42, 32))):  # width, height
        drawn = here(capsys, "sample", tmp_path / "run", *wish, "--count", 12, "--out", tmp_path / "g.png")
        with Image.open(tmp_path / "g.png") as grid:
            assert (drawn.code, grid.size) == (0, size)
    unknown = here(capsys, "sample", tmp_path / "run", "--class", "ten", "--as", "npz", "--out", out)
    assert (unknown.code, "0, 1, 2" in unknown.err) == (2, True)
    no_average = here(capsys, "sample", tmp_path / "run", "--weights", "ema", "--as", "npz", "--out", out)
    assert (no_average.code, "--weights raw" in no_average.err) == (2, True)


def test_floats_with_a_range_come_back_as_floats_clipped_to_it(tmp_path, capsys):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).uniform(0.5, 1.5, (1200, 8, 8, 1)).astype(np.float32))
    changes = {
        "data.source": {"name": "arrays", "path": "a.npy", "value_range": [0.5, 1.5]},
        "data.range": None,  # so that the generator's last layer is linear, and goes beyond
        "generator": {"name": "mlp", "units": [16], "initial_std": 1.0},
        "training": {"steps": 1},
    }
    fitted = here(capsys, "fit", write_config(tmp_path / "c.yaml", changes), "--run-dir", tmp_path / "run", "--quiet")
    assert fitted.code == 0, fitted.err
    assert here(capsys, "sample", tmp_path / "run", "--as", "npz", "--out", tmp_path / "a.npz").code == 0
    samples = arrays(tmp_path / "a.npz")["samples"]
    assert samples.dtype == np.float32
    assert (samples.min(), samples.max()) == (0.5, 1.5)
    assert len(np.unique(samples)) > 100


def test_points_of_the_plane_are_a_scatter_or_numbers_but_no_separate_images(tmp_path, capsys):
    changes = {
        "data.source": "gaussian_mixture",
        "data.range": None,
        "training": {"steps": 1},
        "discriminator": {"name": "mlp", "units": [8]},
    }
    assert here(capsys, "fit", write_config(tmp_path / "c.yaml", changes), "--run-dir", tmp_path / "run", "--quiet").code == 0
    assert (tmp_path / "run" / "samples" / "step-00000001.png").exists()
    assert here(capsys, "sample", tmp_path / "run", "--out", tmp_path / "a.png").code == 0
    assert here(capsys, "sample", tmp_path / "run", "--as", "npz", "--out", tmp_path / "a.npz").code == 0
    samples = arrays(tmp_path / "a.npz")["samples"]
    assert (samples.shape, samples.dtype) == ((64, 2), np.float32)
    assert here(capsys, "sample", tmp_path / "run", "--as", "images", "--out", tmp_path / "images").code == 2
    assert not (tmp_path / "images").exists()
