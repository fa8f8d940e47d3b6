"""Shared fixtures. TensorFlow is not imported here: tests that do not need it start in a moment."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before any test imports TensorFlow
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as gantrain.startup does: tests compute what users compute
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="gantrain-tests-")  # scans of a user's folders are not touched


@pytest.fixture
def tmp_run_dir(tmp_path: Path) -> Path:
    """A path for a run directory that does not exist yet."""
    return tmp_path / "runs" / "test-001"
