"""Faults planted at a known step: each policy does what it says, and none ends in a silent NaN or an endless loop."""

# ruff: noqa: ARG002, ARG005  a stand-in keeps the signature

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf

from gantrain import checkpoint, experiment, stored
from gantrain.errors import DivergedError
from gantrain.rundir.directory import RunDirectory
from gantrain.training.events import RunEvents
from gantrain.training.loop import Loop
from gantrain.training.schedule import Intervals
from gantrain.training.signals import StopRequest
from tests.helpers import BATCH_NORM, changed, snapshot, tiny_experiment

AT = 37


class Silent:
    def __init__(self):
        self.means = []

    def advanced(self, step, means, images_per_sec):
        self.means.append(means)


def poison(built, where, steps=(AT,), attempts=(0, 1, 2, 3)):
    """NaN in the batch, in one micro-batch, in the latents or in a gradient, at certain steps (from 0) of certain attempts."""
    step = built.engine.step
    draws, inner = built.draws, step._discriminator_update.run

    def bad(number):
        return tf.reduce_any(tf.equal(number, steps)) & (draws.attempt in attempts)

    def spoiled(batches, number):
        real = batches[0]["real"]
        rows = tf.range(tf.shape(real)[0]) < (8 if where == "batch" else 1)
        mask = tf.reshape(rows, [-1, 1, 1, 1]) & bad(number)
        return original([{**batches[0], "real": tf.where(mask, np.nan, real)}, *batches[1:]], number)

    def spoiled_run(loss, gradients, gate):
        first = tf.where(bad(built.progress.step.read_value()), np.inf, gradients[0])
        return inner(loss, [first, *gradients[1:]], gate)

    if where == "gradient":
        step._discriminator_update.run = spoiled_run
    else:
        original = step.__call__
        built.engine.step = type("Spoiled", (), {"__call__": staticmethod(spoiled)})()


def loop_of(built, folder, total=45, every=10):
    run = RunDirectory.open_or_create(folder)
    silent, warnings = Silent(), []
    events = RunEvents(
        run=run,
        progress=built.progress,
        state=built.state,
        data=built.data_facts,
        resolved_yaml="",
        draw=lambda stem: None,
        epoch_of=lambda step: 0.0,
        images_per_step=8,
        keep_last=9,
    )
    watchman = experiment.watch_over(built, events, warnings.append)
    loop = Loop(built.engine, built.progress, Intervals(5, 1000, every, total), events, silent, 8, 5, built.source, watchman)
    events.checkpoint(0)
    built.start_data()
    return loop, run, silent, warnings


def finite(built):
    return all(np.isfinite(value.numpy()).all() for value in built.state.values() if value.dtype.is_floating)


WHERE = {"batch": {}, "micro_batch": {"training.accumulate": 4}, "gradient": {}}


@pytest.mark.parametrize("where", ["batch", pytest.param("micro_batch", marks=pytest.mark.slow), "gradient"])
def test_abort_names_the_tensor_the_step_and_the_last_checkpoint_and_applies_nothing(tmp_path, where):
    built = tiny_experiment({**BATCH_NORM, **WHERE[where]})
    poison(built, where)
    loop, run, _, _ = loop_of(built, tmp_path / "run")
    with pytest.raises(DivergedError) as caught:
        loop.run(StopRequest())
    blamed = "gradient of discriminator/head/kernel" if where == "gradient" else "loss/discriminator"
    assert f"step {AT + 1} is not finite: {blamed} is NaN or infinite" in str(caught.value)
    assert str(run.checkpoints / "step-00000030") in str(caught.value)
    assert caught.value.exit_code == 3
    assert built.progress.step.numpy() == AT


@pytest.mark.parametrize("where", WHERE)
def test_skip_leaves_the_update_out_goes_on_with_the_next_batch_and_stays_finite(tmp_path, where):
    changes = {**BATCH_NORM, **WHERE[where], "training.on_nonfinite": "skip", "objective": {"penalties": ["lecam"]}}
    built = tiny_experiment(changes)
    poison(built, where)
    loop, _, silent, _ = loop_of(built, tmp_path / "run", total=AT, every=AT)
    loop.run(StopRequest())
    before = snapshot(built.state)
    built.engine.run(1)
    moved = changed(before, snapshot(built.state))
    assert moved == {f"progress/{name}" for name in ("step", "skipped", "nonfinite_step", "nonfinite_blamed")}
    assert built.progress.means()["skipped"] == 1
    built.engine.run(3)
    assert built.progress.step.numpy() == AT + 4
    assert finite(built)
    assert silent.means[-1]["skipped"] == 0


def test_more_skips_than_the_budget_end_the_run(tmp_path):
    built = tiny_experiment({"training.on_nonfinite": "skip", "training.skip_budget": 2})
    poison(built, "batch", steps=tuple(range(AT, 60)))
    loop, _, _, _ = loop_of(built, tmp_path / "run", total=60)
    with pytest.raises(DivergedError, match=r"3 steps were left out, more than skip_budget"):
        loop.run(StopRequest())
    assert built.progress.skipped.numpy() == 3
    assert finite(built)


@pytest.mark.parametrize(
    "where", ["batch", *(pytest.param(where, marks=pytest.mark.slow) for where in ("micro_batch", "gradient"))]
)
def test_rollback_goes_back_with_other_numbers_and_trains_to_the_end(tmp_path, where):
    built = tiny_experiment({**BATCH_NORM, **WHERE[where], "training.on_nonfinite": "rollback"})
    poison(built, where, attempts=(0,))
    loop, run, _, warnings = loop_of(built, tmp_path / "run")
    saved = []
    restart = built.engine.start
    built.engine.start = lambda iterator: (
        saved.append(stored.latest_good(run.checkpoints, warnings.append)),
        restart(iterator),
    )
    loop.run(StopRequest())
    assert built.progress.step.numpy() == 45
    assert built.progress.attempt.numpy() == 1
    assert finite(built)
    ((path, _),) = saved  # the attempt was on disk before training went on
    assert path.name == "step-00000030"
    assert checkpoint.read(path)["progress/attempt"] == 1
    assert all(item.name.startswith("step-") for item in run.checkpoints.iterdir())  # nothing set aside: it was whole
    assert len(warnings) == 1
    assert "went back to step 30" in warnings[0]
    steps = [json.loads(line)["step"] for line in run.metrics_path.read_text().splitlines() if "epoch" in line]
    assert steps == sorted(set(steps))
    assert steps[-1] == 45
    other = tiny_experiment({**BATCH_NORM, **WHERE[where]}, started=True)
    other.engine.run(45)
    assert "generator/out/kernel" in changed(snapshot(other.state), snapshot({key: built.state[key] for key in other.state}))


def test_rollback_is_bounded(tmp_path):
    built = tiny_experiment({"training.on_nonfinite": "rollback", "training.rollback_budget": 2})
    poison(built, "batch")
    loop, run, _, warnings = loop_of(built, tmp_path / "run")
    with pytest.raises(DivergedError, match="rollback_budget allows to go back 2 times"):
        loop.run(StopRequest())
    assert len(warnings) == 2
    resumed = tiny_experiment({"training.on_nonfinite": "rollback", "training.rollback_budget": 2})
    found = stored.latest_good(run.checkpoints, warnings.append)
    checkpoint.restore(found[0], resumed.state)
    assert resumed.progress.attempt.numpy() == 2  # a resumed run does not begin to count anew


def test_an_overflow_under_float16_halves_the_scale_and_is_no_divergence():
    built = tiny_experiment({"training.precision": "mixed_float16", "training.health": "off"})
    poison(built, "gradient", steps=(2,))
    built.start_data()
    assert built.engine.run(2).fine
    scale, before = built.state["loss_scale.discriminator/scale"].numpy(), snapshot(built.discriminator.trainable)
    assert built.engine.run(1).fine
    assert built.state["loss_scale.discriminator/scale"].numpy() == scale / 2
    assert not changed(before, snapshot(built.discriminator.trainable))
    assert built.engine.run(2).fine
    assert set(built.discriminator.trainable) <= changed(before, snapshot(built.discriminator.trainable))
