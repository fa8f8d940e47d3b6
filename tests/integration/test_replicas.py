"""The step is written for replicas: one and two agree. In a process of its own: devices are split before TensorFlow starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def test_two_replicas_agree_with_one_on_the_same_global_batches(tmp_path):
    out = tmp_path / "out.npz"
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.replicas", out], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(out) as values:
        keys = [key.removeprefix("one/") for key in values if key.startswith("one/")]
        assert len(keys) > 20
        for key in keys:
            first, second = values[f"two0/{key}"], values[f"two1/{key}"]
            assert first.tobytes() == second.tobytes(), key
            np.testing.assert_allclose(first, values[f"one/{key}"], rtol=0, atol=1e-6, err_msg=key)
        assert np.abs(values["one/optimizer.generator/out/kernel/accumulator"]).max() > 1e-3  # something was learnt
