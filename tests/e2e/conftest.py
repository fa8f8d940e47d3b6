"""One finished run that all tests of the command line look at; none may change it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.command import Done, process, write_config


@pytest.fixture(scope="session")
def config(tmp_path_factory) -> Path:
    return write_config(tmp_path_factory.mktemp("config") / "tiny.yaml")


@pytest.fixture(scope="session")
def finished(config, tmp_path_factory) -> tuple[Path, Done]:
    """A run of 60 steps in one go, and what the command said."""
    run = tmp_path_factory.mktemp("runs") / "tiny-001"
    done = process("fit", config, "--run-dir", run)
    assert done.code == 0, done.err
    return run, done
