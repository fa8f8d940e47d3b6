"""In which mode BatchNorm runs, and how often statistics move; whether one step can be repeated."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from gantrain.deepcheck.findings import finding
from gantrain.deepcheck.ownership import named
from gantrain.deepcheck.resources import LayerRow
from gantrain.deepcheck.subject import Inputs, Subject, moved, restored, role_of, statistics
from gantrain.interfaces import Tensor
from gantrain.spec.rules import Finding
from gantrain.training.nets import Net
from gantrain.training.trials import Trial

CURE = "random numbers in a net or a loss need keras.random with a SeedGenerator of the layer, or tf.random.stateless_*"


def frozen(net: Net, inputs: Inputs) -> list[Finding]:
    """Statistics that a training-mode forward does not move: BatchNorm that was told to infer while it trains."""
    owned = statistics(net)
    if not owned:
        return []
    with restored(net.variables) as before:
        net.model(*inputs, training=True)
        still = [key for key in owned if key not in moved(owned, before)]
    message = (
        f"BatchNorm of the {net.role} runs in inference mode in training: {named(still)} did not move, so it normalises with "
        "figures that describe no batch; pass `training` on to the layer"
    )
    return [finding("statistics-frozen", net.role, message)] if still else []


def repeatable_forward(net: Net, inputs: Inputs) -> list[Finding]:
    """In both modes two forwards give equal bytes (this finds Python's random numbers, which a traced step holds fixed)."""
    for training in (False, True):
        first, second = (_bytes(net, inputs, training) for _ in range(2))
        if first != second:
            message = (
                f"the {net.role} gives other values for the same input with training={training}, so no run could be repeated"
            )
            return [finding("not-repeatable", net.role, f"{message}; {CURE}")]
    return []


def _bytes(net: Net, inputs: Inputs, training: bool) -> list[bytes]:
    with restored(net.variables):
        return [item.numpy().tobytes() for item in tf.nest.flatten(net.model(*inputs, training=training)) if item is not None]


def repeatable_updates(subject: Subject) -> Iterator[Finding]:
    """The loss of each update twice from the same state, for random numbers of Python in a loss or a penalty."""
    for trial in subject.trials:
        losses = list[bytes]()
        for _ in range(2):
            with restored(subject.state):
                losses.append(trial.compute(subject.few, tf.constant(0, tf.int64))[0].numpy().tobytes())
        if losses[0] != losses[1]:
            message = f"the {trial.role}'s loss is another one for the same nets and the same batch, so no run could be repeated"
            yield finding("not-repeatable", f"objective.{trial.setting}", f"{message}; {CURE}")


# ---------------------------------------------------------------- one whole step


def repeated_step(subject: Subject, tables: dict[str, list[LayerRow]]) -> tuple[list[Finding], float]:
    """One whole step twice from the same state: finite, equal bytes, statistics moved once. Also the seconds of the second."""
    ends: list[dict[str, Tensor]] = []
    step, seconds, blamed = subject.experiment.engine.once(), 0.0, ""
    for _ in range(2):
        with restored(subject.state):
            started = time.perf_counter()
            step(list(subject.batches)).numpy()
            seconds = time.perf_counter() - started
            blamed = _blamed(subject)
            ends.append({key: tf.identity(variable) for key, variable in subject.state.items()})
    found = [*_differences(subject, *ends), *_nonfinite(subject, blamed)]
    return [*found, *(item for trial in subject.trials for item in _moves_per_step(subject, trial, ends[0], tables))], seconds


def _blamed(subject: Subject) -> str:
    """What was not finite in the step just done, or nothing."""
    progress = subject.experiment.progress
    failed = int(progress.nonfinite_step.numpy()) >= 0
    return subject.experiment.engine.suspects[int(progress.nonfinite_blamed.numpy())] if failed else ""


def _nonfinite(subject: Subject, blamed: str) -> Iterator[Finding]:
    if blamed:
        roles = [role for role in subject.nets if role in blamed]
        message = (
            f"the first step on the whole batch of {subject.spec.data.batch_size} is not finite: {blamed} is NaN or infinite"
        )
        cure = "look for a log, a root or a norm of 0, or a division by 0, that only some examples meet"
        yield finding("gradient-nonfinite", tuple(roles[:1]) or ("objective", "loss"), f"{message}; {cure}")


def _differences(subject: Subject, first: dict[str, Tensor], second: dict[str, Tensor]) -> Iterator[Finding]:
    different = [key for key in first if first[key].numpy().tobytes() != second[key].numpy().tobytes()]
    if different:
        roles = [role_of(key) for key in different if role_of(key) in subject.nets]
        message = f"the same step from the same state gave other values of {named(different)}"
        yield finding("not-repeatable", tuple(roles[:1]) or ("training",), f"{message}, so no run could be repeated; {CURE}")


def _moves_per_step(
    subject: Subject, trial: Trial, end: dict[str, Tensor], tables: dict[str, list[LayerRow]]
) -> Iterator[Finding]:
    """With momentum m and a batch mean u, one move makes m*old + (1-m)*u. Twice as many are told apart by a second forward."""
    roles = [role for role in trial.moves if statistics(subject.nets[role])] if trial.once else []
    often = {role: found for role in roles if (found := _called_twice(tables[role]))}
    for role, names in often.items():
        message = (
            f"one forward of the {role} calls the BatchNorm {named(names)} more than once, and each call moves its statistics"
        )
        yield finding("statistics-twice", role, f"{message}; make a BatchNorm for each place")
    rest = {key: variable for role in roles if role not in often for key, variable in statistics(subject.nets[role]).items()}
    still = [key for key in rest if end[key].numpy().tobytes() == rest[key].numpy().tobytes()]
    if still:
        message = f"one step does not move the statistics {named(still)}: this BatchNorm runs in inference mode in training"
        yield finding("statistics-frozen", role_of(still[0]), f"{message}; pass `training` on to the layer")
    elif other := _moved_otherwise(subject, trial, rest, end):
        message = f"one step moves the statistics {named(other)} otherwise than one forward does"
        yield finding("statistics-twice", role_of(other[0]), f"{message}: they must move once per step; call each BatchNorm once")


def _called_twice(table: list[LayerRow]) -> list[str]:
    calls = Counter(row.name for row in table if row.is_normalising)
    return [name for name, count in calls.items() if count > 1]


def _moved_otherwise(subject: Subject, trial: Trial, owned: dict[str, tf.Variable], end: dict[str, Tensor]) -> list[str]:
    """Keys that one whole step moved otherwise than the update by itself, on the same batch."""
    if not owned or not subject.spec.plugins:  # of our own nets and steps tests know it
        return []
    with restored(subject.state):
        trial.compute(subject.batches[-1], tf.constant(0, tf.int64))
        once = {key: variable.numpy() for key, variable in owned.items()}
    return [key for key, value in once.items() if not np.allclose(end[key].numpy(), value, rtol=1e-4, atol=1e-5)]
