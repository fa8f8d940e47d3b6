"""A long run uses no more memory, files and time at its end than before: scripts/long_run.py."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.e2e.command import ROOT


@pytest.mark.slow
def test_memory_open_files_and_time_per_step_stay_flat():
    done = subprocess.run(
        [sys.executable, "scripts/long_run.py", "--steps", "6000"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
