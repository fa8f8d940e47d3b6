"""From files on disk to samples, through the command line: folders, packed files, tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.e2e.command import here, write_config

SHORT = {"training": {"steps": 6}, "output.log_every": 3, "output.sample_every": 3, "output.checkpoint_every": 6}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sixteen pictures, two of them bad, and a config that skips those."""
    for number in range(16):
        pixels = np.random.default_rng(number).integers(0, 256, (8, 8, 4), np.uint8)
        path = tmp_path / "bildér" / f"{number:02d}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(path)
    (tmp_path / "bildér" / "03.png").write_bytes(b"")
    (tmp_path / "bildér" / "07.png").write_bytes(bytes(100))
    source = {"name": "image_folder", "path": "bildér", "height": 8, "width": 8, "channels": 4, "on_bad_file": "skip"}
    config = write_config(tmp_path / "c.yaml", {**SHORT, "data.source": source, "data.batch_size": 4})
    config.write_text("\ufeff" + config.read_text(encoding="utf-8"), encoding="utf-8")  # as Windows saves it
    return config


def test_a_folder_of_rgba_pictures_trains_and_gives_rgba_samples_and_its_scan_is_kept(folder, tmp_path, capsys):
    done = here(capsys, "fit", folder, "--run-dir", tmp_path / "läufe", "--device", "cpu")
    assert done.code == 0, done.err
    assert "pictures   14 of 16 files, brought to 8x8 RGBA, cropped" in done.out
    assert "unreadable 2: 03.png: is empty (0 bytes)" in done.out
    scan = json.loads((tmp_path / "läufe" / "scan.json").read_text())
    assert set(scan["unreadable"]) == {"03.png", "07.png"}
    assert json.loads((tmp_path / "läufe" / "run.json").read_text())["skipped_files"] == 2
    with Image.open(tmp_path / "läufe" / "samples" / "reals.png") as image:
        assert image.mode == "RGBA"
    assert here(capsys, "sample", tmp_path / "läufe", "--as", "images", "--count", 2, "--out", tmp_path / "out").code == 0
    with Image.open(tmp_path / "out" / "00001.png") as image:
        assert (image.mode, image.size) == ("RGBA", (8, 8))
    fewer = ("--set", "data.source.channels=3", "--set", "data.source.alpha=composite")
    done = here(capsys, "fit", "--resume", tmp_path / "läufe", *fewer, "--set", "training.steps=9")
    assert done.code == 5
    assert "data.source.channels: 4 there, 3 now" in done.err
    assert "set these back, or start a new run" in done.err
    done = here(capsys, "sample", tmp_path / "läufe", "--as", "csv")
    assert done.code == 2
    assert "--as csv is for data that came from a table" in done.err


def test_training_from_the_packed_file_gives_the_same_bytes(folder, tmp_path, capsys):
    done = here(capsys, "pack", folder, tmp_path / "set.pack")
    assert done.code == 0, done.err
    assert f"source: {{name: packed, path: {tmp_path / 'set.pack'}}}" in done.out
    packed = write_config(
        tmp_path / "p.yaml", {**SHORT, "data.source": {"name": "packed", "path": "set.pack"}, "data.batch_size": 4}
    )
    for config, run in ((folder, "a"), (packed, "b")):
        assert here(capsys, "fit", config, "--run-dir", tmp_path / run, "--quiet").code == 0
    for file in ("samples/reals.png", "samples/step-00000006.png", "checkpoints/step-00000006/state.data-00000-of-00001"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_a_deep_check_opens_the_data_and_an_error_there_ends_with_4(folder, capsys):
    report = json.loads(here(capsys, "validate-config", folder, "--deep", "--json").out)
    assert report["ok"] is True
    assert set(report["scan"]["unreadable"]) == {"03.png", "07.png"}
    done = here(capsys, "validate-config", folder, "--deep", "--set", "data.source.on_bad_file=error")
    assert done.code == 4
    assert "2 of 16 pictures cannot be used" in done.err
    done = here(capsys, "validate-config", folder, "--deep", "--set", "data.batch_size=15")
    assert done.code == 2  # 14 are left
    assert "batch-exceeds-data" in done.err


def test_samples_of_a_table_come_back_with_its_columns_and_types(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [
        f"{age},{size:.2f},{'ab'[age % 2]}" for age, size in zip(rng.integers(20, 60, 40), rng.normal(1.7, 0.1, 40), strict=True)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["age,size,kind", *rows]))
    source = {"name": "csv", "path": "t.csv", "categories": ["kind"]}
    config = write_config(tmp_path / "c.yaml", {**SHORT, "data.source": source, "data.range": None, "data.batch_size": 8})
    assert here(capsys, "fit", config, "--run-dir", tmp_path / "run", "--quiet").code == 0
    assert here(capsys, "sample", tmp_path / "run", "--as", "csv", "--count", 9, "--out", tmp_path / "s.csv").code == 0
    header, *samples = csv.reader((tmp_path / "s.csv").read_text().splitlines())
    assert header == ["age", "size", "kind"]
    assert len(samples) == 9
    for age, size, kind in samples:
        assert str(int(age)) == age
        assert len(size.partition(".")[2]) <= 2
        assert kind in ("a", "b")
    done = here(capsys, "sample", tmp_path / "run", "--out", tmp_path / "x.png")
    assert done.code == 2
    assert "use --as csv" in done.err


@pytest.mark.slow
def test_samples_of_16_bit_pictures_come_back_in_their_own_units(tmp_path, capsys):
    (tmp_path / "pictures").mkdir()
    for number in range(8):
        values = np.random.default_rng(number).integers(20_000, 40_000, (8, 8), np.uint16)
        Image.fromarray(values).save(tmp_path / "pictures" / f"é{number}.png")
    source = {"name": "image_folder", "path": "pictures", "height": 8, "width": 8, "channels": 1}
    config = write_config(tmp_path / "c.yaml", {**SHORT, "data.source": source, "data.batch_size": 4})
    done = here(capsys, "fit", config, "--run-dir", tmp_path / "run", "--device", "cpu")
    assert done.code == 0, done.err
    assert "all values kept in 0..65535" in done.out
    assert here(capsys, "sample", tmp_path / "run", "--as", "npz", "--out", tmp_path / "a.npz").code == 0
    with np.load(tmp_path / "a.npz", allow_pickle=False) as archive:
        samples = archive["samples"]
    assert samples.dtype == np.float32
    assert 0 <= samples.min() < samples.max() <= 65535
    assert samples.max() > 255
