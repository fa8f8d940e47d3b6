"""Which checkpoint is drawn from, also while a run goes on."""

from __future__ import annotations

import shutil

import pytest
import tensorflow as tf

from gantrain import checkpoint
from gantrain.drawing import draw_from
from gantrain.errors import RunError
from tests.unit.test_checkpoint import FACTS


def saved(run, step):
    folder = run / "checkpoints"
    folder.mkdir(exist_ok=True)
    return checkpoint.save(folder, step, {"generator/w": tf.Variable(1.0)}, "name: x\n", FACTS)


def test_a_checkpoint_that_a_running_fit_replaces_while_it_is_read_gives_way_to_the_newer_one(tmp_path):
    seen = []

    def draw(path):
        seen.append(path.name)
        if path.name == "step-00000001":
            shutil.rmtree(path)
            saved(tmp_path, 2)
            raise RunError("gone")
        return [path]

    saved(tmp_path, 1)
    draw_from(tmp_path, pytest.fail, draw)
    assert seen == ["step-00000001", "step-00000002"]


def test_an_error_that_is_not_of_a_replaced_checkpoint_is_raised(tmp_path):
    def draw(path):
        raise RunError("broken")

    saved(tmp_path, 1)
    with pytest.raises(RunError, match="broken"):
        draw_from(tmp_path, pytest.fail, draw)
