"""One process per run directory."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gantrain.errors import RunError
from gantrain.rundir.lock import is_locked, locked

_HOLD = """
import sys, time
from pathlib import Path
from gantrain.rundir.lock import locked
with locked(Path(sys.argv[1])):
    sys.stdout.write("held\\n"); sys.stdout.flush()
    time.sleep(60)
"""
_WATCH = """
import sys
from pathlib import Path
from gantrain.rundir.lock import is_locked
while True:
    is_locked(Path(sys.argv[1]))
"""


def _holder(directory: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", _HOLD, str(directory)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_a_second_holder_is_told_who_has_the_directory_and_since_when(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(RunError, match=rf"process {os.getpid()} on {socket.gethostname()} since 20..-"),
        locked(tmp_path),
    ):
        pass


def test_the_lock_is_free_after_the_block_also_when_it_failed(tmp_path: Path) -> None:
    with locked(tmp_path):
        assert is_locked(tmp_path)
    assert not is_locked(tmp_path)
    with pytest.raises(ZeroDivisionError), locked(tmp_path):
        raise ZeroDivisionError
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        pass


def test_a_killed_holder_frees_the_directory_at_once(tmp_path: Path) -> None:
    child = _holder(tmp_path)
    with child:
        assert is_locked(tmp_path)
        with pytest.raises(RunError, match=f"process {child.pid} on"), locked(tmp_path):
            pass
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        pass


def test_looking_at_a_lock_does_not_disturb_those_who_want_it(tmp_path: Path) -> None:
    with locked(tmp_path):
        pass
    watcher = subprocess.Popen([sys.executable, "-c", _WATCH, str(tmp_path)])
    with watcher:
        time.sleep(0.3)
        for _ in range(20):
            with locked(tmp_path):
                pass
        watcher.kill()


def test_a_directory_without_a_lock_file_is_not_locked(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "missing")
