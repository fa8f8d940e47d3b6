"""Where the time of a training step goes: the loop of `fit`, the bare step, and each part of it measured by itself."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import tensorflow as tf

from gantrain.data.pipeline import data_errors
from gantrain.errors import DivergedError
from gantrain.experiment import AnyExperiment, Experiment
from gantrain.interfaces import Tensor
from gantrain.pictures import Pictures
from gantrain.rundir.directory import RunDirectory
from gantrain.rundir.grid import write_png
from gantrain.spec.model import Minutes
from gantrain.training.events import RunEvents
from gantrain.training.fakes import Batch
from gantrain.training.loop import Speed
from gantrain.training.trials import Trial

ROUNDS = 5  # turns of each part; the median counts


@dataclass(frozen=True)
class Part:
    """`ms`: per step; `share`: of the time of a step of the loop."""

    name: str
    ms: float
    share: float


@dataclass(frozen=True)
class Timing:
    """Images per second of the loop (data, average, facts and checks included) and of the same step on a batch at hand.

    `wait_share`: of the loop's time that went by waiting for data. `events_share`: what the run's events add to its time.
    """

    loop_images_per_sec: float
    step_images_per_sec: float
    wait_share: float
    events_share: float
    parts: tuple[Part, ...]

    def tree(self) -> dict[str, Any]:
        """For --json."""
        return {**asdict(self), "loop_over_step": self.loop_images_per_sec / self.step_images_per_sec}


def measure(experiment: AnyExperiment, seconds: float) -> Timing:
    """Train a built experiment, which nobody uses afterwards, for about `seconds`, apart from compiling it.

    Raises DataError, and DivergedError for a step that is not finite.
    """
    with data_errors(experiment.source):
        timers = {"loop": _loop(experiment), **_parts(experiment)}
        found = _medians(timers, seconds)
        per_step = found["loop"]
        parts = {**{name: value for name, value in found.items() if name not in ("loop", "step", "wait")}, **_events(experiment)}
    images = experiment.images_per_step
    return Timing(
        images / per_step,
        images / found["step"],
        found["wait"] / per_step,
        sum(value for name, value in parts.items() if name in EVENTS) / per_step,
        tuple(Part(name, 1e3 * value, value / per_step) for name, value in parts.items()),
    )


def _medians(timers: dict[str, Callable[[float], dict[str, float]]], seconds: float) -> dict[str, float]:
    """Seconds per step by name, the turns of all parts interleaved: they see the same machine."""
    turns: dict[str, list[float]] = {}
    for number in range(1 + ROUNDS):
        for timer in timers.values():
            for name, value in timer(0.0 if number == 0 else seconds / ROUNDS / len(timers)).items():
                turns.setdefault(name, []).append(value)
    return {name: statistics.median(values[1:]) for name, values in turns.items()}  # the first turn compiles


# ---------------------------------------------------------------- the loop and its parts


def _loop(experiment: AnyExperiment) -> Callable[[float], dict[str, float]]:
    """The engine on its own data, in calls whose length fits the turn."""
    experiment.start_data()
    per_step = [float("inf")]

    def turn(seconds: float) -> dict[str, float]:
        steps = max(1, int(seconds / per_step[0]))
        started = time.perf_counter()
        result = experiment.engine.run(steps)
        taken = (time.perf_counter() - started) / steps
        if not result.fine:
            raise DivergedError("a step was not finite while it was measured; `gantrain fit` names what is NaN or infinite")
        per_step[0] = taken if seconds else float("inf")
        return {"loop": taken, "wait": result.input_wait_sec / steps}

    return turn


def _parts(experiment: AnyExperiment) -> dict[str, Callable[[float], dict[str, float]]]:
    """What can be measured by itself. The parts of the updates are known for task `gan`."""
    iterator, count = experiment.engine.iterator, experiment.spec.batches_per_step
    given = [next(iterator) for _ in range(count)]
    once = experiment.engine.once()
    timed: dict[str, Callable[[], object]] = {
        "step": lambda: bool(once(given)),
        "data": lambda: [next(iterator) for _ in range(count)],
    }
    if isinstance(experiment, Experiment):
        timed |= _gan_parts(experiment, given[-1])
    return {name: partial(_turn, name, action) for name, action in timed.items()}


def _gan_parts(experiment: Experiment, batch: Batch) -> dict[str, Callable[[], object]]:
    number, trials = tf.constant(0, tf.int64), experiment.engine.step.trials()
    timed: dict[str, Callable[[], object]] = {}
    for trial in trials:
        times = experiment.spec.batches_per_step if trial.role == "discriminator" else 1
        timed[f"{trial.role}: loss and gradient"] = partial(_repeat, times, _compiled(trial, batch, number))
    timed["updates of the weights"] = _updates(trials)
    if experiment.average is not None:
        follow_up = experiment.engine.follow_up()
        timed["moving average"] = lambda: follow_up(number).numpy()
    return timed


def _turn(name: str, action: Callable[[], object], seconds: float) -> dict[str, float]:
    started, count = time.perf_counter(), 0
    while count == 0 or time.perf_counter() - started < seconds:
        action()
        count += 1
    return {name: (time.perf_counter() - started) / count}


def _repeat(times: int, action: Callable[[], object]) -> None:
    for _ in range(times):
        action()


def _compiled(trial: Trial, batch: Batch, number: Tensor) -> Callable[[], object]:
    """The loss of one update with its gradient; fakes included."""

    def compute() -> list[Tensor]:
        loss, gradients = trial.compute(batch, number)
        return [loss, *(item for item in gradients if item is not None)]  # what is not given back is not computed

    compiled = tf.function(compute, autograph=False)
    return lambda: compiled()[0].numpy()


def _updates(trials: list[Trial]) -> Callable[[], object]:
    """Norms, checks and optimizers of both updates, with gradients of zero."""

    def apply() -> Tensor:
        fine = tf.constant(True)
        for trial in trials:
            zeros = [tf.zeros_like(variable) for variable in trial.variables.values()]
            fine &= trial.update.run(tf.constant(0.0), list(zeros), tf.constant(True)).fine
        return fine

    compiled = tf.function(apply, autograph=False)
    return lambda: compiled().numpy()


# ---------------------------------------------------------------- events

EVENTS = ("lines of metrics", "pictures", "checkpoints")


def _events(experiment: AnyExperiment) -> dict[str, float]:
    """Seconds per step that the events of a run take, each done once in a run directory of its own, by their intervals."""
    settings, found = experiment.spec.output, dict[str, float]()
    with tempfile.TemporaryDirectory() as folder:
        events = _run_events(experiment, RunDirectory.open_or_create(Path(folder) / "run"))
        events.sample(0)  # compiles
        every = settings.checkpoint_every
        actions = (
            (settings.log_every, lambda: events.log(1, Speed())),
            (settings.sample_every, lambda: events.sample(1)),
            (None if isinstance(every, Minutes) else every, lambda: events.checkpoint(1)),
        )
        for name, (interval, action) in zip(EVENTS, actions, strict=True):
            if interval is not None:
                found[name] = _turn(name, action, 0.0)[name] / interval
    return found


def _run_events(experiment: AnyExperiment, run: RunDirectory) -> RunEvents:
    """As `fit` has them; checkpoints are waited for, because their writing takes the same processor."""
    pictures = Pictures.of(experiment.transform, experiment.source)

    def draw(stem: str) -> None:
        for end, picture in experiment.drawings(pictures).items():
            write_png(run.samples / f"{stem}{end}.png", picture)

    return RunEvents(
        run=run,
        progress=experiment.progress,
        state=experiment.state,
        data=experiment.data_facts,
        resolved_yaml="",
        draw=draw,
        epoch_of=float,
        images_per_step=experiment.images_per_step,
        keep_last=1,
    )
