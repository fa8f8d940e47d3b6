"""Every error a user can cause, with the exit code it ends the command with.

A message says what is wrong, where, and what to do. Anything that is not a `GantrainError` is a bug of ours (exit code 1).
"""

from __future__ import annotations

import re

_INSIDE_A_LAYER = re.compile(r"\x1b\[1m(.*?)\x1b\[0m", re.DOTALL)  # Keras wraps what a layer raises; the cause is bold


class GantrainError(Exception):
    """Base of all errors that are shown without a traceback."""

    exit_code = 1


class UsageError(GantrainError):
    """A wrong command line or a wrong spec."""

    exit_code = 2


class WiringError(UsageError):
    """Nets or components that cannot be trained as wired. `rule` is the name of what found it, `role` the place in the spec."""

    def __init__(self, rule: str, role: str, message: str) -> None:
        super().__init__(f"{rule}: {message}")
        self.rule = rule
        self.role = role
        self.message = message


class DivergedError(GantrainError):
    """Training became non-finite, or a health rule said stop."""

    exit_code = 3


class DataError(GantrainError):
    """A data source cannot be read, or holds what it must not."""

    exit_code = 4


class RunError(GantrainError):
    """A run directory or a checkpoint cannot be read, written or continued."""

    exit_code = 5


class InterruptedRun(BaseException):
    """A signal ends the command, in training after a checkpoint was written.

    It is raised between any two instructions, hence no Exception: what handles those of a damaged picture, of a plugin or of a
    layer must not take a signal for one.
    """

    def __init__(self, signal_number: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = 128 + signal_number


def in_words(error: BaseException) -> str:
    """Kind and message of a strange error, without what Keras puts around it."""
    cause = _INSIDE_A_LAYER.search(str(error.args[0]) if error.args else "")  # str() of a KeyError would escape it
    return f"{type(error).__name__}: {cause.group(1) if cause else error}"
