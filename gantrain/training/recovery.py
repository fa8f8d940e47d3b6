"""What `on_nonfinite: rollback` does: back to the last good checkpoint with other random numbers, a bounded number of times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tensorflow as tf

from gantrain import checkpoint, stored
from gantrain.errors import DivergedError
from gantrain.rundir.directory import RunDirectory
from gantrain.rundir.proofs import Proofs
from gantrain.training.progress import Progress


@dataclass(frozen=True)
class Rollback:
    """`save` puts a checkpoint in the place of that of a step, `settle` waits for one that is being written; `restart` gives the
    engine its data and keys anew; `budget`: times in a run.
    """

    run: RunDirectory
    progress: Progress
    state: dict[str, tf.Variable]
    budget: int
    save: Callable[[int], None]
    restart: Callable[[], None]
    warn: Callable[[str], None]
    settle: Callable[[], None] = lambda: None

    def __call__(self, error: DivergedError) -> None:
        """Go back. The attempt, part of every key of data and noise, is on disk before training goes on.

        Raises DivergedError when the run has gone back `budget` times.
        """
        attempt = int(self.progress.attempt.numpy()) + 1
        if attempt > self.budget:
            raise DivergedError(f"{error}; rollback_budget allows to go back {self.budget} times, which was done") from error
        self.settle()
        found = stored.latest_good(self.run.checkpoints, self.warn)
        if found is None:
            raise error
        path, manifest = found
        checkpoint.restore(path, self.state)
        self.progress.attempt.assign(attempt)
        Proofs(self.run.path).cut_back(manifest.step)
        self.save(manifest.step)
        self.warn(f"{error}; went back to step {manifest.step} with other random numbers (attempt {attempt} of {self.budget})")
        self.restart()
