"""The loop in Python: run the engine up to the next event, do what is due, watch for signals and for what is not finite."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gantrain.data.pipeline import data_errors
from gantrain.errors import DivergedError, InterruptedRun
from gantrain.interfaces import Source
from gantrain.training.engine import Engine
from gantrain.training.health import Health
from gantrain.training.progress import Progress
from gantrain.training.schedule import CallLength, Intervals, Stopwatch
from gantrain.training.signals import StopRequest


class Events(Protocol):
    """What the loop causes at the steps on which it is due."""

    def log(self, step: int, speed: Speed) -> None:
        """Write a line of metrics."""
        ...

    def sample(self, step: int) -> None:
        """Draw the fixed latents."""
        ...

    def evaluate(self, step: int) -> None:
        """Write a line of scores."""
        ...

    def checkpoint(self, step: int, *, interim: bool = False) -> None:
        """Save the state; `interim`: only because the run is stopped here."""
        ...

    def last_checkpoint(self) -> str:
        """Where the last good checkpoint is, in words."""
        ...


class Reporter(Protocol):
    """What the user sees while it runs."""

    def advanced(self, step: int, means: dict[str, float], images_per_sec: float) -> None:
        """After each call."""
        ...


@dataclass
class Speed:
    """Since the last line of metrics, start-up and events left out."""

    images: int = 0
    busy_sec: float = 0.0
    input_wait_sec: float = 0.0

    @property
    def images_per_sec(self) -> float:
        """Real images per second; 0 before anything was measured."""
        return self.images / self.busy_sec if self.busy_sec > 0 else 0.0


@dataclass(frozen=True)
class Watchman:
    """What the loop does about a run that goes wrong.

    `recover` takes the error of a step that was not finite and puts the run back, or raises (None: raise it). `health` judges
    lines of metrics (None: nobody does); its advice goes to `warn`, or ends the run if `stops`.
    """

    warn: Callable[[str], None] = lambda _: None
    health: Health | None = None
    stops: bool = False
    recover: Callable[[DivergedError], None] | None = None
    after_first: Callable[[], None] = lambda: None  # asked once, after the first call, which is one step where it can be


@dataclass(frozen=True)
class Loop:
    """Trains from the current step to the last one."""

    engine: Engine
    progress: Progress
    intervals: Intervals
    events: Events
    reporter: Reporter
    images_per_step: int
    steps_per_call: int | str
    source: Source
    watchman: Watchman = Watchman()

    def run(self, stop: StopRequest) -> None:
        """Raises DivergedError for a run that is not finite or not healthy, InterruptedRun after a signal (with a checkpoint)."""
        length = CallLength(self.steps_per_call)
        speed, watch = Speed(), Stopwatch(self.intervals.checkpoint_sec)
        step = int(self.progress.step.numpy())
        first, checked = True, False
        while step < self.intervals.total:
            before, step = step, self._call(length.steps(self.intervals.next_event(step) - step), length, speed, first)
            first = step <= before  # a run that went back is traced anew, and its events of that step were there
            if first:
                continue
            if not checked:
                checked = True
                self.watchman.after_first()
            speed = self._due(step, speed)
            if watch.rang():
                self.events.checkpoint(step)
            if stop.signal_number is not None and step < self.intervals.total:
                if not self.intervals.due(step, self.intervals.checkpoint):  # else it was written a moment ago
                    self.events.checkpoint(step, interim=True)
                raise InterruptedRun(
                    stop.signal_number, f"stopped by a signal after step {step}; {self.events.last_checkpoint()}"
                )

    def _call(self, steps: int, length: CallLength, speed: Speed, first: bool) -> int:
        started = time.perf_counter()
        with data_errors(self.source):
            result = self.engine.run(steps)
        seconds = time.perf_counter() - started
        if not result.fine:
            return self._recovered(self._diverged())
        length.measured(steps, seconds)
        if not first:  # the first call compiles
            speed.images += steps * self.images_per_step
            speed.busy_sec += seconds
            speed.input_wait_sec += result.input_wait_sec
        step = int(self.progress.step.numpy())
        self.reporter.advanced(step, self.progress.means(), speed.images_per_sec)
        return step

    def _recovered(self, error: DivergedError) -> int:
        """The step from which the run goes on. Raises the error if it does not."""
        if self.watchman.recover is None:
            raise error
        self.watchman.recover(error)
        return int(self.progress.step.numpy())

    def _due(self, step: int, speed: Speed) -> Speed:
        """Events of this step, the checkpoint last: it covers what the others wrote."""
        plan = self.intervals
        logged = plan.due(step, plan.log)
        if logged:
            self.events.log(step, speed)
        if step % plan.log == 0:  # a last line off the interval leaves the sums: a longer run goes on with them
            self._judge_health(step)
            self.progress.reset()
        if plan.due(step, plan.sample):
            self.events.sample(step)
        if plan.due(step, plan.evaluate):
            self.events.evaluate(step)
        if plan.due(step, plan.checkpoint) or step == plan.total:
            self.events.checkpoint(step)
        return Speed() if logged else speed

    def _judge_health(self, step: int) -> None:
        watchman, means = self.watchman, self.progress.means()
        if watchman.health is None or int(self.progress.count.numpy()) == 0:
            return
        for advice in watchman.health.judge(step, means):
            if watchman.stops:
                raise DivergedError(f"step {step}: {advice} (health: stop); {self.events.last_checkpoint()}")
            watchman.warn(f"step {step}: {advice}")

    def _diverged(self) -> DivergedError:
        blamed = self.engine.suspects[int(self.progress.nonfinite_blamed.numpy())]
        step, skipped = int(self.progress.nonfinite_step.numpy()) + 1, int(self.progress.skipped.numpy())
        more = f" ({skipped} steps were left out, more than skip_budget)" if skipped else ""
        message = f"step {step} is not finite: {blamed} is NaN or infinite; that update was not applied{more}"
        return DivergedError(f"{message}; {self.events.last_checkpoint()}")
