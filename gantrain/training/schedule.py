"""On which steps something happens. Intervals are in steps; the last step counts for everything."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Intervals:
    """Steps between lines of metrics, grids, checkpoints and scores (None: never), and the last step of the run.

    `checkpoint_sec`: seconds between checkpoints, beside or instead of steps.
    """

    log: int
    sample: int
    checkpoint: int | None
    total: int
    evaluate: int | None = None
    checkpoint_sec: float | None = None

    def due(self, step: int, every: int | None) -> bool:
        """Whether an event of this interval falls on `step` (counted in finished steps)."""
        return every is not None and (step % every == 0 or step == self.total)

    def next_event(self, step: int) -> int:
        """The first step after `step` on which anything is due."""
        intervals = [every for every in (self.log, self.sample, self.checkpoint, self.evaluate) if every is not None]
        return min(self.total, *((step // every + 1) * every for every in intervals))


class Stopwatch:
    """Rings every so many seconds of running time, whatever happens to the clock on the wall."""

    def __init__(self, every_sec: float | None) -> None:
        self._every_sec = every_sec
        self._started = time.monotonic()

    def rang(self) -> bool:
        """Whether the time is over; then it starts again."""
        if self._every_sec is None or time.monotonic() - self._started < self._every_sec:
            return False
        self._started = time.monotonic()
        return True


class CallLength:
    """How many steps one call runs: a fixed number, or as many as take about half a second.

    The first call is one step (it includes compilation); its time is not used. The choice never changes a number of the run.
    """

    TARGET_SEC = 0.5

    def __init__(self, setting: int | str) -> None:
        self._fixed = setting if isinstance(setting, int) else None
        self._steps = 1
        self._calls = 0

    def steps(self, until_event: int) -> int:
        """Steps of the next call: at most `until_event`."""
        return min(self._fixed or self._steps, until_event)

    def measured(self, steps: int, seconds: float) -> None:
        """Learn from a call."""
        self._calls += 1
        if self._calls > 1:
            self._steps = max(1, min(int(self.TARGET_SEC * steps / max(seconds, 1e-6)), 4 * self._steps))
