"""The only place that prints: results to stdout, everything else to stderr; and the one mapping from errors to exit codes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

import click

from gantrain.errors import GantrainError, InterruptedRun, RunError, UsageError

if TYPE_CHECKING:  # `--help` does not need the spec
    from gantrain.spec.problems import Problem

BUG = 1
INTERRUPTED = 130  # 128 + SIGINT
# What a system refuses at any place and time is no bug of ours, even where nobody expects it.
REFUSALS = frozenset(
    (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENAMETOOLONG, errno.ELOOP, errno.ESTALE)
)
PIPE_CLOSED = 141  # 128 + SIGPIPE, as a shell reports it for `gantrain list | head -1`
REPORT = "This is a bug in gantrain. Please report it with the lines above and the command you typed."


class PipeClosed(Exception):
    """The reader of our output went away. Not an OSError: click would end with 1 for that, our code for a bug."""


def echo(text: str = "") -> None:
    """A result, to stdout."""
    _write(sys.stdout, text)


def warn(text: str) -> None:
    """A warning, to stderr."""
    _write(sys.stderr, text)


def error(text: str) -> None:
    """An error, to stderr."""
    _write(sys.stderr, text)


def tell(text: str = "") -> None:
    """As `echo`, of a command that goes on when its reader goes away: `gantrain fit CONFIG | head` must not lose a run."""
    with suppress(PipeClosed):
        echo(text)


def remark(text: str) -> None:
    """As `warn`, of a command that goes on when its reader goes away."""
    with suppress(PipeClosed):
        warn(text)


def show_problems(problems: Iterable[Problem]) -> None:
    """Warnings and notes of a spec that can be used, one line each, to stderr."""
    for problem in problems:
        warn(str(problem))


def _write(stream: TextIO | None, text: str) -> None:
    """A terminal that cannot show a character gets an escape instead of a UnicodeEncodeError; a closed stream (None) nothing."""
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
    except BrokenPipeError:
        _let_go(stream)
        raise PipeClosed from None
    except OSError as problem:
        _let_go(stream)
        raise RunError(f"cannot write the output: {problem.strerror}; make room, or send it elsewhere") from None


def run_command(command: Callable[[], object]) -> int:
    """Run a command and turn its outcome into an exit code; only bugs of ours show a traceback."""
    try:
        result = command()
    except Exception as problem:  # every outcome must become an exit code
        return _code_of(problem)
    except InterruptedRun as stop:
        error(str(stop))
        return stop.exit_code
    except KeyboardInterrupt:
        return _stopped()
    return result if isinstance(result, int) else 0


def _code_of(problem: Exception) -> int:
    if isinstance(problem, GantrainError):
        error(_with_prefix(str(problem)))
        return problem.exit_code
    if isinstance(problem, click.ClickException):
        problem.show()
        return 2
    if isinstance(problem, click.exceptions.Abort):
        return _stopped()
    if isinstance(problem, PipeClosed):
        return _pipe_closed()
    if (
        isinstance(problem, MemoryError) or type(problem).__name__ == "ResourceExhaustedError"
    ):  # TensorFlow's, without importing it
        error("error: out of memory; a smaller data.batch_size, smaller nets, or training.accumulate need less")
        return UsageError.exit_code
    if isinstance(problem, OSError) and problem.errno in REFUSALS and problem.filename is not None:
        error(f"error: cannot use {problem.filename}: {problem.strerror}; check the path, its permissions and the disk")
        return RunError.exit_code
    import traceback

    error("".join(traceback.format_exception(problem)) + REPORT)
    return BUG


def _with_prefix(message: str) -> str:
    """Problems of a spec say `error` themselves, with their position in front."""
    return message if ": error [" in message or not message else f"error: {message}"


def _stopped() -> int:
    error("stopped")
    return INTERRUPTED


def _pipe_closed() -> int:
    """The reader went away."""
    return PIPE_CLOSED


def _let_go(stream: TextIO) -> None:
    """Python would complain once more when it flushes the stream at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
