"""The Python side of training, with an engine that only counts."""

# ruff: noqa: ARG002  a stand-in keeps the signature

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from gantrain.data.memory import MemorySource
from gantrain.errors import DivergedError, InterruptedRun
from gantrain.training.engine import CallResult
from gantrain.training.loop import Loop, Speed
from gantrain.training.progress import Progress
from gantrain.training.schedule import Intervals
from gantrain.training.signals import StopRequest


class CountingEngine:
    """Adds one image of loss 2 per step; not finite at step `bad` (counted from 0)."""

    suspects = ("loss/generator", "gradient of generator/out/kernel")

    def __init__(self, progress, bad=None):
        self.progress, self.bad, self.calls = progress, bad, []

    def run(self, steps):
        self.calls.append(steps)
        for _ in range(steps):
            number = int(self.progress.step.numpy())
            fine = tf.constant(number != self.bad)
            self.progress.record(tf.constant([2.0 + number]), fine, tf.constant(1, tf.int64))
            if not bool(fine):
                return CallResult(False, 0.0)
        return CallResult(True, 0.0)


class Recorder:
    """Events and reporter in one: writes down what it is told."""

    def __init__(self, progress):
        self.told, self.progress, self.after, self.interim = [], progress, lambda: None, []

    def log(self, step, speed):
        self.told.append(("log", step, self.progress.means()["loss/generator"]))

    def sample(self, step):
        self.told.append(("sample", step))

    def checkpoint(self, step, *, interim=False):
        self.told.append(("checkpoint", step))
        self.interim += [step] if interim else []

    def evaluate(self, step):
        self.told.append(("evaluate", step))

    def last_checkpoint(self):
        return "the last checkpoint is step-00000004"

    def advanced(self, step, means, images_per_sec):
        self.after()


SOURCE = MemorySource(np.zeros((1, 1, 1, 1), np.uint8), (0.0, 255.0))


def made(total=12, bad=None, log=5, sample=6, checkpoint=4):
    progress = Progress(("loss/generator",))
    engine, recorder = CountingEngine(progress, bad), Recorder(progress)
    loop = Loop(engine, progress, Intervals(log, sample, checkpoint, total), recorder, recorder, 8, 100, SOURCE)
    return SimpleNamespace(loop=loop, progress=progress, engine=engine, told=recorder.told, recorder=recorder)


def of(told, kind):
    return [item[1] for item in told if item[0] == kind]


def test_events_happen_on_exact_steps_and_calls_end_there():
    run = made()
    run.loop.run(StopRequest())
    assert of(run.told, "log") == [5, 10, 12]
    assert of(run.told, "sample") == [6, 12]
    assert of(run.told, "checkpoint") == [4, 8, 12]
    assert run.engine.calls == [4, 1, 1, 2, 2, 2]
    assert [item[0] for item in run.told[-3:]] == ["log", "sample", "checkpoint"]


def test_a_line_holds_the_means_since_the_line_before():
    run = made()
    run.loop.run(StopRequest())
    means = [item[2] for item in run.told if item[0] == "log"]
    assert means == [4.0, 9.0, 12.5]


def test_a_last_line_off_the_interval_leaves_its_sums_to_a_longer_run():
    run = made(total=12)
    run.loop.run(StopRequest())
    assert run.progress.count.numpy() == 2
    longer = made(total=15)
    longer.loop.run(StopRequest())
    object.__setattr__(run.loop, "intervals", Intervals(5, 6, 4, 15))
    run.loop.run(StopRequest())
    assert run.told[-3] == longer.told[-3] == ("log", 15, 14.0)


@pytest.mark.parametrize("bad", [0, 7])
def test_the_first_step_that_is_not_finite_ends_the_run_with_its_number_and_its_name(bad):
    run = made(bad=bad)
    with pytest.raises(DivergedError, match=rf"step {bad + 1} is not finite: gradient of generator/out/kernel"):
        run.loop.run(StopRequest())
    assert run.progress.step.numpy() == bad
    assert all(step <= bad for step in of(run.told, "checkpoint"))


def test_a_signal_ends_the_run_after_the_call_with_a_checkpoint():
    run = made()
    stop = StopRequest()
    run.recorder.after = lambda: stop.handle(2, None) if run.progress.step.numpy() == 5 else None
    with pytest.raises(InterruptedRun, match="after step 5") as caught:
        run.loop.run(stop)
    assert caught.value.exit_code == 130
    assert of(run.told, "checkpoint") == [4, 5]
    assert run.recorder.interim == [5]


def test_a_signal_on_a_step_with_a_checkpoint_does_not_write_it_twice():
    run = made()
    stop = StopRequest()
    run.recorder.after = lambda: stop.handle(15, None) if run.progress.step.numpy() == 8 else None
    with pytest.raises(InterruptedRun):
        run.loop.run(stop)
    assert of(run.told, "checkpoint") == [4, 8]
    assert run.recorder.interim == []


def test_a_signal_on_the_last_step_lets_the_run_finish():
    run = made()
    stop = StopRequest()
    run.recorder.after = lambda: stop.handle(2, None) if run.progress.step.numpy() == 12 else None
    run.loop.run(stop)
    assert of(run.told, "checkpoint") == [4, 8, 12]


def test_speed_counts_no_time_before_anything_was_measured():
    assert Speed().images_per_sec == 0.0
    assert Speed(images=50, busy_sec=2.0).images_per_sec == 25.0
