"""A job on a thread: in order, waited for, its error raised here."""

from __future__ import annotations

import threading

import pytest

from gantrain.errors import RunError
from gantrain.training.background import Background


def fail():
    raise RunError("no space")


def test_jobs_run_one_after_the_other_on_another_thread():
    background, seen, gate = Background(), [], threading.Event()
    background.submit(lambda: (gate.wait(5), seen.append(threading.current_thread() is threading.main_thread())))
    assert seen == []
    gate.set()
    background.submit(lambda: seen.append("second"))
    background.wait()
    assert seen == [False, "second"]


def test_an_error_is_raised_once_by_the_next_call():
    background = Background()
    background.submit(fail)
    with pytest.raises(RunError, match="no space"):
        background.submit(lambda: pytest.fail("runs after an error"))
    background.wait()
