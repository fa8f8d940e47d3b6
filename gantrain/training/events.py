"""What happens on the due steps: a line of metrics, a grid of fixed latents, a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tensorflow as tf

from gantrain import checkpoint, stored
from gantrain.manifest import DataFacts
from gantrain.rundir.directory import RunDirectory
from gantrain.rundir.metrics import MetricsLog
from gantrain.training.loop import Speed
from gantrain.training.progress import Progress

LONG_ENOUGH_SEC = 1.0  # shorter than that, a share of the time says nothing
HEALTH = "health/"  # on lines of their own


@dataclass(frozen=True)
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

    def log(self, step: int, speed: Speed) -> None:
        """Means since the last line; the speed is the only part that differs from run to run."""
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
        """A line of scores, where the data has any."""
        if self.score is not None:
            MetricsLog(self.run.metrics_path).append({"step": step, **self.score()})

    def sample(self, step: int) -> None:
        """samples/step-NNNNNNNN.png."""
        self.draw(f"step-{step:08d}")

    def checkpoint(self, step: int) -> None:
        """Save, after metrics are on disk, and keep the newest ones."""
        MetricsLog(self.run.metrics_path).sync()
        checkpoint.save(self.run.checkpoints, step, self.state, self.resolved_yaml, self.data)
        stored.prune(self.run.checkpoints, self.keep_last, step)

    def last_checkpoint(self) -> str:
        """In words, for messages."""
        found = stored.all_checkpoints(self.run.checkpoints)
        return f"the last checkpoint is {found[-1][1]}" if found else "there is no checkpoint"
