"""A snapshot is taken at once and written while training goes on, up to the next event. It covers what was written before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import tensorflow as tf

from gantrain import checkpoint, stored
from gantrain.manifest import DataFacts
from gantrain.rundir.directory import RunDirectory
from gantrain.rundir.metrics import MetricsLog
from gantrain.rundir.proofs import Proofs
from gantrain.training.background import Background
from gantrain.training.best import Best


@dataclass(frozen=True)
class Kept:
    """Which checkpoints stay: the newest `last`, and the best one where there is a score."""

    last: int
    best: Best | None = None

    def spared(self) -> tuple[int, ...]:
        """Steps that stay whatever their age."""
        return (self.best.best.step,) if self.best is not None and self.best.best is not None else ()


@dataclass
class Saver:
    """Writes the checkpoints of one run. `written`: files that a checkpoint will prove, since the last one."""

    run: RunDirectory
    state: Mapping[str, tf.Variable]
    resolved_yaml: str
    data: DataFacts
    kept: Kept
    background: bool = False  # write while training goes on
    written: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._interim = stored.interim_steps(self.run.checkpoints)
        self._proofs = Proofs(self.run.path)
        self._thread = Background()
        self._saved_step: int | None = None

    def save(self, step: int, *, interim: bool = False) -> None:
        """Save the state of now, unless that was just done; `interim` as in a manifest.

        Raises RunError: of this checkpoint or of the one before.
        """
        if step != self._saved_step:
            (self._interim.add if interim else self._interim.discard)(step)
            self._start(step)

    def rewrite(self, step: int) -> None:
        """Save the state in place of the checkpoint of a step that is gone back to; it is on disk when this returns."""
        self._proofs = Proofs(self.run.path)  # the metrics were cut back
        self._start(step)
        self.wait()

    def prune(self, step: int) -> None:
        """Delete what need not stay beside the newest checkpoint, as a crash may have come before that. Raises RunError."""
        stored.prune(self.run.checkpoints, self.kept.last, step, self.kept.spared(), self._interim)

    def wait(self) -> None:
        """Until what was saved is on disk. Raises RunError."""
        self._thread.wait()

    def _start(self, step: int) -> None:
        self.wait()
        MetricsLog(self.run.metrics_path).sync()
        tensors = checkpoint.snapshot(self.state)
        written, self.written = self.written, []
        spared, interim = self.kept.spared(), frozenset(self._interim)
        self._proofs.checkpointed(step, written)  # here: the metrics grow on while the thread writes

        def write() -> None:
            checkpoint.write(self.run.checkpoints, step, tensors, self.resolved_yaml, self.data, step in interim)
            stored.prune(self.run.checkpoints, self.kept.last, step, spared, interim)

        self._saved_step = step
        self._thread.submit(write)
        if not self.background:
            self.wait()
