"""Checkpoints and records of every format that gantrain ever wrote can be read: one is kept of each, in tests/formats.

When `manifest.FORMAT` is raised: keep the former folder, add a reader to `manifest.READERS` and a folder of the new format.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from gantrain import checkpoint, stored
from gantrain.manifest import FORMAT, READERS
from gantrain.rundir.record import RunRecord
from tests.e2e.command import ROOT, here

FORMATS = ROOT / "tests" / "formats"
KEPT = sorted(FORMATS.glob("checkpoint-*"))


def test_one_checkpoint_of_each_format_is_kept_and_each_older_one_has_a_reader():
    assert [path.name for path in KEPT] == [f"checkpoint-{number}" for number in range(1, FORMAT + 1)]
    assert sorted(READERS) == list(range(1, FORMAT))


@pytest.mark.parametrize("folder", KEPT, ids=lambda path: path.name)
def test_a_kept_checkpoint_is_whole_and_draws_what_it_drew(folder: Path, tmp_path, capsys):
    path = shutil.copytree(folder / "step-00000003", tmp_path / "step-00000003")
    assert stored.verify(path).step == 3
    tensors = checkpoint.read(path)
    assert tensors["progress/step"] == 3
    assert {key.split("/")[0] for key in tensors} >= {"generator", "discriminator", "ema", "optimizer.generator", "progress"}
    done = here(capsys, "sample", path, "--as", "npz", "--count", 4, "--seed", 1, "--out", tmp_path / "now.npz")
    assert done.code == 0, done.err
    with np.load(tmp_path / "now.npz") as now, np.load(folder / "samples.npz") as then:
        # uint8: a last bit of float32 may move a value across a rounding edge on another machine, never further
        assert np.abs(now["samples"].astype(int) - then["samples"].astype(int)).max() <= 1


def test_a_kept_record_is_read():
    assert RunRecord.load(FORMATS / "run-1.json").starts[0].resumed_from_step is None
