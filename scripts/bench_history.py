"""How fast a step of task `history` is, against how people write it: an eager loop, and that loop unrolled in a tf.function.

    .venv/bin/python scripts/benchmark.py history [--quick] [--json FILE] [--batch 32] [--length 4] [--size 32]

All three train the same dense network on the same batches, with the loss (||Z|| - target)^2 of the last K outputs, and all three
are checked to give the same losses. Figures are of one run, best of some rounds in turn; only their ratios mean something.
Wanted: 50 times faster than the eager loop, not slower than the unrolled one, and a time to trace that the batch does not change.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from gantrain import registry
from gantrain.objectives.window_losses import norm_mse
from gantrain.training.catalog import Adam
from gantrain.training.history import History, WindowForm
from gantrain.training.history_step import HistoryStep
from gantrain.training.nets import Net
from gantrain.training.update import Update

RATE, SAME = 1e-3, 1e-4
ROUNDS, QUICK_ROUNDS = 20, 4
EAGER_STEPS, GRAPH_STEPS, CHECKED_STEPS = 3, 300, 5
WARM, BATCHES = 2, (8, 32, 128)  # for the time to trace; the first batch pays what a process pays once

Step = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


def network(size: int) -> keras.Model:
    """size -> size, ReLU, with the same weights each time."""
    keras.utils.set_random_seed(1)
    return keras.Sequential([keras.Input([size]), keras.layers.Dense(size, activation="relu", name="dense")], name="model")


def plain_step(length: int, size: int) -> Step:
    """As people write it: one example after the other, a deque of outputs, one optimizer step per batch."""
    model, optimizer = network(size), keras.optimizers.Adam(RATE)
    optimizer.build(model.trainable_variables)
    state = tf.Variable(tf.zeros([length, size]))

    def step(x: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
        history = deque(tf.unstack(state), maxlen=length)
        with tf.GradientTape() as tape:
            outputs, losses = model(x, training=True), []
            for index in range(x.shape[0]):
                history.appendleft(outputs[index])
                window = tf.concat([history[0], *(tf.stop_gradient(history[k]) for k in range(1, length))], axis=0)
                losses.append(tf.square(tf.norm(window) - target[index, 0]))
            loss = tf.reduce_mean(tf.stack(losses))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True))
        state.assign(tf.stack(list(history)))
        return loss

    return step


def our_step(length: int, size: int, batch: int) -> HistoryStep:
    """The step of the task, with its own optimizer."""
    model = Net.of("model", network(size))
    optimizer = registry.build(Adam(learning_rate=RATE, beta_1=0.9), model.trainable)
    update = Update("model", model.trainable, optimizer, RATE, None)
    history = History(WindowForm(length, size, batch))
    return HistoryStep(model, update, history, norm_mse, lambda batch, _: batch["sequence"], False)


def element(x: tf.Tensor, target: tf.Tensor) -> dict[str, tf.Tensor]:
    """A batch as the step takes it."""
    return {"real": x, "targets": target, "sequence": tf.zeros(tf.shape(x)[:1], tf.int64)}


def examples(batch: int, size: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Inputs [batch,size] and targets [batch,1], off zero, where the plain loop's norm has no gradient."""
    rng = np.random.default_rng(0)
    return tf.constant(rng.normal(size=[batch, size]), tf.float32), tf.constant(rng.uniform(1, 3, [batch, 1]), tf.float32)


def seconds(calls: dict[str, tuple[Callable[[], object], int]], rounds: int) -> dict[str, float]:
    """Of one step of each call, which runs so many of them: best of a few rounds, in turn, so that all meet the same load."""
    best = dict.fromkeys(calls, float("inf"))
    for round_number in range(rounds + 1):
        for name, (call, steps) in calls.items():
            started = time.perf_counter()
            call()
            if round_number > 0:  # the first one traces
                best[name] = min(best[name], (time.perf_counter() - started) / steps)
    return best


def first_call(call: Callable[[], object]) -> float:
    """Seconds of the first call, which traces."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def in_one_graph(step: Callable[[], tf.Tensor], steps: int) -> Callable[[], object]:
    """`steps` steps in one call, each a loss []: nothing but their own work is left."""

    def body(done: tf.Tensor, _: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return done + 1, step()

    @tf.function(autograph=False)
    def run(count: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda done, _: done < count, body, (tf.constant(0), tf.constant(0.0)), parallel_iterations=1)[1]

    return lambda: run(tf.constant(steps))


def repeated(call: Callable[[], object], times: int) -> Callable[[], None]:
    """`times` calls, one after the other, from Python."""

    def run() -> None:
        for _ in range(times):
            call()

    return run


def check_equal(length: int, size: int, batch: int) -> None:
    """The three are the same computation: their losses agree, step after step. AssertionError if they do not."""
    x, target = examples(batch, size)
    eager, ours = plain_step(length, size), our_step(length, size, batch)
    for _ in range(CHECKED_STEPS):
        expected, found = float(eager(x, target)), float(ours([element(x, target)], tf.constant(0, tf.int64)).facts[0])
        assert abs(found / expected - 1) < SAME, (found, expected)


def measure(length: int, size: int, batch: int, rounds: int) -> dict[str, float]:
    """Seconds per step of each way: called from Python step by step, and many in one graph, as `fit` runs them."""
    x, target = examples(batch, size)
    number = tf.constant(0, tf.int64)
    eager, plain, step = plain_step(length, size), plain_step(length, size), our_step(length, size, batch)
    unrolled = tf.function(plain, autograph=False)
    called = tf.function(lambda x, target: step([element(x, target)], number).facts[0], autograph=False)
    return seconds(
        {
            "eager loop, step by step": (repeated(lambda: eager(x, target), EAGER_STEPS), EAGER_STEPS),
            "unrolled, step by step": (repeated(lambda: unrolled(x, target), GRAPH_STEPS), GRAPH_STEPS),
            "gantrain, step by step": (repeated(lambda: called(x, target), GRAPH_STEPS), GRAPH_STEPS),
            "unrolled, in one graph": (in_one_graph(lambda: plain(x, target), GRAPH_STEPS), GRAPH_STEPS),
            "gantrain, in one graph": (in_one_graph(lambda: called(x, target), GRAPH_STEPS), GRAPH_STEPS),
        },
        rounds,
    )


def traces(length: int, size: int, batch: int) -> tuple[float, float]:
    """Seconds to the end of the first step: unrolled, and ours."""
    x, target = examples(batch, size)
    unrolled, step = tf.function(plain_step(length, size)), our_step(length, size, batch)
    called = tf.function(lambda x, target: step([element(x, target)], tf.constant(0, tf.int64)).facts, autograph=False)
    return first_call(lambda: unrolled(x, target)), first_call(lambda: called(x, target))


def judged(steps: dict[str, float], traced: dict[int, tuple[float, float]]) -> dict[str, float]:
    """The figures that are wanted: how many times ours the others take, and how many times longer the largest batch traces."""
    ours = steps["gantrain, step by step"]
    return {
        "eager loop / gantrain": steps["eager loop, step by step"] / ours,
        "unrolled / gantrain": steps["unrolled, step by step"] / ours,
        "unrolled / gantrain, in one graph": steps["unrolled, in one graph"] / steps["gantrain, in one graph"],
        f"trace at batch {BATCHES[-1]} / {BATCHES[0]}": traced[BATCHES[-1]][1] / traced[BATCHES[0]][1],
    }


def main(arguments: list[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Steps of task history against the loops people write.")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--length", type=int, default=4)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--quick", action="store_true", help="a few rounds")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    wanted = parser.parse_args(arguments)
    check_equal(wanted.length, wanted.size, wanted.batch)
    print(f"K = {wanted.length}, D = {wanted.size}, batch {wanted.batch}; the losses of all three agree")
    steps = measure(wanted.length, wanted.size, wanted.batch, QUICK_ROUNDS if wanted.quick else ROUNDS)
    for name, value in steps.items():
        print(f"{name:<28}{1e6 * value:>10,.0f} us per step")
    traced = {batch: traces(wanted.length, wanted.size, batch) for batch in (WARM, *BATCHES)}
    for batch in BATCHES:
        print(f"first step at batch {batch:>5}: unrolled {traced[batch][0]:6.2f} s, gantrain {traced[batch][1]:6.2f} s")
    figures = judged(steps, traced)
    for name, value in figures.items():
        print(f"{name:<36}{value:>8.2f}")
    if wanted.json:
        wanted.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
