from __future__ import annotations

import io
import sys

import click
import pytest

from gantrain.cli.output import echo, run_command, warn
from gantrain.errors import DataError, DivergedError, InterruptedRun, RunError, UsageError


def _raising(error):
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("what"), 2),
        (DivergedError("what"), 3),
        (DataError("what"), 4),
        (RunError("what"), 5),
        (InterruptedRun(2, "what"), 130),
        (InterruptedRun(15, "what"), 143),
        (click.UsageError("what"), 2),
        (click.FileError("what", "what"), 2),
    ],
)
def test_a_users_mistake_is_a_message_and_its_exit_code_without_a_traceback(capsys, error, code):
    assert run_command(_raising(error)) == code
    shown = capsys.readouterr()
    assert "what" in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""


def test_a_bug_of_ours_shows_its_traceback_and_asks_for_a_report(capsys):
    assert run_command(_raising(ZeroDivisionError("bug"))) == 1
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert "ZeroDivisionError: bug" in shown
    assert "report" in shown


def test_what_the_system_refuses_is_no_bug_and_names_the_path(capsys):
    assert run_command(_raising(PermissionError(13, "Permission denied", "/x/run"))) == 5
    assert (
        capsys.readouterr().err == "error: cannot use /x/run: Permission denied; check the path, its permissions and the disk\n"
    )
    assert run_command(_raising(OSError(22, "Invalid argument", "/x"))) == 1  # that would be ours


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.exceptions.Abort()])
def test_ctrl_c_ends_with_130(capsys, error):
    assert run_command(_raising(error)) == 130
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(("result", "code"), [(None, 0), (4, 4), ("text", 0)])
def test_the_result_of_a_command_is_its_exit_code_if_it_is_a_number(result, code):
    assert run_command(lambda: result) == code


def test_results_go_to_stdout_and_warnings_to_stderr(capsys):
    echo("result")
    warn("warning")
    assert capsys.readouterr() == ("result\n", "warning\n")


def test_a_terminal_without_unicode_gets_an_escape_instead_of_an_error(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    echo("größer")
    assert stream.buffer.getvalue() == b"gr\\xf6\\xdfer\n"  # pyright: ignore
