"""Ctrl-C and SIGTERM: the first asks training to stop at the next call's end, the second stops at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gantrain.errors import InterruptedRun


class StopRequest:
    """`signal_number` is None until a signal came."""

    def __init__(self) -> None:
        self.signal_number: int | None = None
        self._ending = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Signal handler: note the first signal; end at once at the second (files appear whole or not at all).

        More of them must not disturb the end: a checkpoint that is being written is waited for.
        """
        del frame
        if self._ending:
            return
        if self.signal_number is not None:
            self._ending = True
            raise InterruptedRun(number, "stopped at once by a second signal; the last checkpoint on disk is whole")
        self.signal_number = number


@contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """While inside, SIGINT and SIGTERM set the request; afterwards the former handlers are back."""
    request = StopRequest()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, request.handle) for number in numbers}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
