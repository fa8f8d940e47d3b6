"""What the user sees while it trains: one progress bar, or plain lines where there is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from tqdm import tqdm

from gantrain.cli import output

SHORT = {"generator": "G", "discriminator": "D", "reconstruction": "rec", "regularisation": "reg"}  # losses, in the bar
PLAIN_EVERY_SEC = 10.0  # a log file of a batch system gets a line this often at most


class Bar:
    """A `Reporter` for a terminal."""

    def __init__(self, first_step: int, total: int) -> None:
        self._bar = tqdm(total=total, initial=first_step, unit="step", dynamic_ncols=True, smoothing=0.1, file=sys.stderr)

    def advanced(self, step: int, means: dict[str, float], images_per_sec: float) -> None:
        """Move to `step`; losses are means since the last line of metrics."""
        self._bar.set_postfix_str(describe(means, images_per_sec), refresh=False)
        self._bar.update(step - self._bar.n)

    def close(self) -> None:
        """Leave the last state on the screen."""
        self._bar.close()


class PlainLines:
    """A `Reporter` for files and pipes."""

    def __init__(self, first_step: int, total: int) -> None:
        self._total = total
        self._started = self._last = time.monotonic()
        self._first_step = first_step

    def advanced(self, step: int, means: dict[str, float], images_per_sec: float) -> None:
        """A line, unless the last one was a moment ago and there is more to come."""
        now = time.monotonic()
        if now - self._last < PLAIN_EVERY_SEC and step < self._total:
            return
        self._last = now
        left = (now - self._started) / max(step - self._first_step, 1) * (self._total - step)
        output.remark(f"step {step}/{self._total}  {describe(means, images_per_sec)}  {left:.0f} s left")

    def close(self) -> None:
        """Nothing to tidy."""


class Silence:
    """A `Reporter` for --quiet."""

    def advanced(self, step: int, means: dict[str, float], images_per_sec: float) -> None:
        """Say nothing."""

    def close(self) -> None:
        """Nothing to tidy."""


@contextmanager
def scan_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A callback (what, done, total) that shows a bar while the data is looked at; a terminal is needed to see it."""
    bars: dict[str, tqdm[NoReturn]] = {}

    def watch(what: str, done: int, total: int) -> None:
        if quiet or not sys.stderr.isatty():
            return
        if what not in bars:
            bars[what] = tqdm(total=total, desc=what, unit="file", dynamic_ncols=True, delay=1.0, file=sys.stderr)
        bars[what].update(done - bars[what].n)

    try:
        yield watch
    finally:
        for bar in bars.values():
            bar.close()


def reporter(first_step: int, total: int, quiet: bool) -> Bar | PlainLines | Silence:
    """The one that fits the terminal."""
    if quiet:
        return Silence()
    return Bar(first_step, total) if sys.stderr.isatty() else PlainLines(first_step, total)


def describe(means: dict[str, float], images_per_sec: float) -> str:
    """Speed and both losses in a few words."""
    speed = f"{images_per_sec:,.0f} images/s, " if images_per_sec else ""
    skipped = f", skipped: {means['skipped']:.0f}" if means.get("skipped") else ""
    losses = {name.removeprefix("loss/"): value for name, value in means.items() if name.startswith("loss/")}
    shown = [f"{SHORT.get(name, '')} {value:.3f}".strip() for name, value in losses.items()]
    return f"{speed}loss {' '.join(shown)}{skipped}"
