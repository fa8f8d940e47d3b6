"""What happens on the due steps: a line of metrics, a grid of fixed latents, a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import tensorflow as tf

from gantrain import stored
from gantrain.errors import RunError
from gantrain.manifest import DataFacts
from gantrain.rundir.directory import RunDirectory
from gantrain.rundir.metrics import MetricsLog
from gantrain.training.best import Best
from gantrain.training.loop import Speed
from gantrain.training.progress import Progress
from gantrain.training.saving import Kept, Saver

LONG_ENOUGH_SEC = 1.0  # shorter than that, a share of the time says nothing
HEALTH = "health/"  # on lines of their own


@dataclass
class RunEvents:
    """Events that write into a run directory. `draw` writes the picture of the current generator to a path's stem.

    `epoch_of` gives the epochs finished at a step, `images_per_step` the real images of one, `score` values by name.
    """

    run: RunDirectory
    progress: Progress
    state: dict[str, tf.Variable]
    data: DataFacts
    resolved_yaml: str
    draw: Callable[[str], None]
    epoch_of: Callable[[int], float]
    images_per_step: int
    keep_last: int
    score: Callable[[], dict[str, float]] | None = None
    waited: Callable[[float], None] = lambda _: None  # told which share of the time, 0..1, went by waiting for data
    best: Best | None = None  # the best step by a score, whose checkpoint stays
    background: bool = False  # checkpoints are written while training goes on
    saver: Saver = field(init=False)

    def __post_init__(self) -> None:
        kept = Kept(self.keep_last, self.best)
        self.saver = Saver(self.run, self.state, self.resolved_yaml, self.data, kept, self.background)

    def log(self, step: int, speed: Speed) -> None:
        """Means since the last line; the speed is the only part that differs from run to run."""
        self.settle()  # what is on disk after a checkpoint means that it is there too
        share = round(speed.input_wait_sec / speed.busy_sec, 4) if speed.busy_sec else 0.0
        if speed.busy_sec >= LONG_ENOUGH_SEC:
            self.waited(share)
        means = self.progress.means()
        MetricsLog(self.run.metrics_path).append(
            {
                "step": step,
                "images_seen": step * self.images_per_step,
                "epoch": self.epoch_of(step),
                **{name: value for name, value in means.items() if not name.startswith(HEALTH)},
                "images_per_sec": round(speed.images_per_sec, 1),
                "input_wait_share": share,
            }
        )

        health = {name: value for name, value in means.items() if name.startswith(HEALTH)}
        if health:
            MetricsLog(self.run.metrics_path).append({"step": step, **health})

    def evaluate(self, step: int) -> None:
        """A line of scores, where the data has any; the best one so far is saved."""
        self.settle()
        scores = self.score() if self.score is not None else {}
        if scores:
            MetricsLog(self.run.metrics_path).append({"step": step, **scores})
        if self.best is not None and self.best.improves(step, scores):
            self.checkpoint(step)

    def sample(self, step: int) -> None:
        """samples/step-NNNNNNNN.png."""
        self.settle()
        stem = f"step-{step:08d}"
        self.draw(stem)
        self.saver.written += sorted(self.run.samples.glob(f"{stem}*.png"))

    def checkpoint(self, step: int, *, interim: bool = False) -> None:
        """Save, after metrics are on disk, and keep the newest ones; an `interim` one until the next is there."""
        self.saver.save(step, interim=interim)

    def settle(self) -> None:
        """Until what was saved is on disk. Raises RunError."""
        self.saver.wait()

    def last_checkpoint(self) -> str:
        """In words, for messages."""
        self.settle()
        found = stored.all_checkpoints(self.run.checkpoints)
        return f"the last checkpoint is {found[-1][1]}" if found else "there is no checkpoint"


@contextmanager
def settled(events: RunEvents) -> Iterator[None]:
    """However the block is left, what it saved is on disk then. Raises RunError, unless another error is on its way."""
    try:
        yield
    except BaseException:
        with suppress(RunError):
            events.settle()
        raise
    events.settle()
