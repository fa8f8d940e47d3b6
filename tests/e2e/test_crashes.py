"""A run stopped at any moment and continued ends where one in one go does: the matrix of scripts/crash_matrix.py."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.e2e.command import ROOT


@pytest.mark.parametrize(
    ("seed", "count"), [(3, 2), pytest.param(11, 8, marks=pytest.mark.slow), pytest.param(12, 40, marks=pytest.mark.slow)]
)
def test_runs_stopped_at_random_moments_end_with_the_bytes_of_one_that_was_not(seed, count):
    command = [sys.executable, "scripts/crash_matrix.py", "--seed", str(seed), "--count", str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} moments, 0 differed" in done.stdout
