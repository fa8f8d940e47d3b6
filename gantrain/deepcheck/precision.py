"""Which precision is faster on this machine: the same step in float32 and in bfloat16, measured."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from gantrain import experiment
from gantrain.deepcheck.findings import Report, finding
from gantrain.deepcheck.subject import Subject, restored
from gantrain.errors import UsageError, in_words
from gantrain.interfaces import Source
from gantrain.spec.rules import Finding

COMPARED = ("float32", "mixed_bfloat16")
WORTH_SEC = 0.01  # a step that takes less is not bound by arithmetic, and its test would cost more than it can save
WORTH_FACTOR = 1.15  # less is within what two measurements differ by
TURNS_SEC = 2.0  # of both together, but at least three steps each
TURNS = 3
OBVIOUS_FACTOR = 4.0  # one turn says enough: a processor without bfloat16 takes 20 to 30 times as long


def advise(subject: Subject, source: Source, report: Report) -> None:
    """Measure both where it can matter; says in the report what they took, and notes it where the other one is faster."""
    chosen, costs = subject.spec.training.precision, report.tree.get("costs")
    if chosen not in COMPARED or not costs or costs["step_sec"] < WORTH_SEC:
        return
    (other,) = (name for name in COMPARED if name != chosen)
    try:
        turns = _turns(subject, source, other, costs["step_sec"])
    except Exception as error:  # a plugin may know one precision only; what it does in its own is judged elsewhere
        if not subject.spec.plugins and not isinstance(error, UsageError):
            raise
        report.lines.append(f"precision: {other} was not measured: {in_words(error)}")
        return
    seconds = {name: statistics.median(turn[name] for turn in turns) for name in COMPARED}
    factor = statistics.median(turn[chosen] / turn[other] for turn in turns)
    report.lines.append("precision: " + ", ".join(f"{name} {1e3 * value:,.1f} ms per step" for name, value in seconds.items()))
    report.tree["precision"] = {"chosen": chosen, "step_sec": seconds, "other_is_faster_by": factor}
    report.findings += advice(chosen, other, factor)


def _turns(subject: Subject, source: Source, other: str, step_sec: float) -> list[dict[str, float]]:
    """Seconds of a step by precision, turn after turn."""
    training = subject.spec.training.model_copy(update={"precision": other})
    built = experiment.build_any(subject.spec.model_copy(update={"training": training}), source)
    steps = {
        subject.spec.training.precision: _timed_step(subject.experiment.engine.once(), subject),
        other: _timed_step(built.engine.once(), subject),
    }
    count = max(TURNS, min(25, int(TURNS_SEC / (2 * step_sec))))
    turns = [{name: step() for name, step in steps.items()} for _ in range(2)][1:]  # the first one compiles
    slow, fast = max(turns[0].values()), min(turns[0].values())
    return (
        turns if slow > OBVIOUS_FACTOR * fast else turns + [{name: step() for name, step in steps.items()} for _ in range(count)]
    )


def advice(chosen: str, other: str, factor: float) -> list[Finding]:
    """`factor`: how many times as fast the other one is."""
    if factor < WORTH_FACTOR:
        return []
    message = f"a step in {other} is {factor:.2f} times as fast as in {chosen} on this machine"
    return [finding("precision-faster", "training.precision", f"{message}; write precision: {other}")]


def _timed_step(step: Callable[..., object], subject: Subject) -> Callable[[], float]:
    """Seconds of one whole step, after which the state is as before."""

    def run() -> float:
        with restored(subject.state):
            started = time.perf_counter()
            bool(step(list(subject.batches)))
            return time.perf_counter() - started

    return run
