"""One job at a time on a thread of its own; what went wrong there is raised here."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Background:
    """Runs jobs one after the other. Not for use from two threads."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def submit(self, job: Callable[[], None]) -> None:
        """Start a job once the one before has ended. Raises the error of that one."""
        self.wait()
        self._thread = threading.Thread(
            target=self._run, args=(job,), name="gantrain-checkpoint"
        )  # the process waits for its end
        self._thread.start()

    def wait(self) -> None:
        """Until no job runs. Raises the error of the last one, once."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _run(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:  # the loop raises it at its next event
            self._error = error
