"""Runs the command line, in a process of its own or, to save TensorFlow's start, in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.helpers import tiny_tree

ROOT = Path(__file__).resolve().parents[2]
TRAINED = {
    "name": "tiny",
    "generator": {"name": "mlp", "units": [16], "norm": "batch_norm"},
    "discriminator": {"name": "mlp", "units": [16, 8], "norm": "batch_norm", "dropout": 0.2},
    "data.batch_size": 64,  # 28 steps per epoch
    "training": {"steps": 60, "ema": {"half_life_images": 500}},
    "output": {"log_every": 5, "sample_every": 20, "checkpoint_every": 10, "keep_last": 3, "sample_count": 5},
}


class Done(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


def write_config(path: Path, changes=None) -> Path:
    """A config of a tiny GAN on digits with BatchNorm and Dropout."""
    path.write_text(yaml.safe_dump(tiny_tree({**TRAINED, **(changes or {})})))
    return path


def process(*arguments: object, module: str = "gantrain") -> Done:
    """In a process of its own."""
    environment = {key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"}
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def signalled(step: int, number: int, *arguments: object) -> Done:
    """In a process of its own, which sends itself a signal at a step."""
    return process(step, int(number), *arguments, module="tests.e2e.signalled")


def here(capsys: pytest.CaptureFixture[str], *arguments: object) -> Done:
    """In this process."""
    from gantrain.cli.main import main

    capsys.readouterr()
    with pytest.raises(SystemExit) as caught:
        main(list(map(str, arguments)))
    said = capsys.readouterr()
    return Done(int(caught.value.code or 0), said.out, said.err)
