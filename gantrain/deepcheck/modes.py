"""In which mode BatchNorm runs, and how often the generator's statistics move; whether one step can be repeated."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from gantrain.deepcheck.findings import finding
from gantrain.deepcheck.ownership import named
from gantrain.deepcheck.resources import layer_table
from gantrain.deepcheck.subject import Subject, moved, restored, statistics
from gantrain.interfaces import Tensor
from gantrain.spec.rules import Finding
from gantrain.training.nets import Net


def frozen(net: Net, inputs: tuple[Tensor, Tensor | None]) -> list[Finding]:
    """Statistics that a training-mode forward does not move: BatchNorm that was told to infer while it trains."""
    owned = statistics(net)
    with restored(owned) as before:
        net.model(*inputs, training=True)
        still = [key for key in owned if key not in moved(owned, before)]
    message = (
        f"BatchNorm of the {net.role} runs in inference mode in training: {named(still)} did not move, so it normalises with "
        "figures that describe no batch; pass `training` on to the layer"
    )
    return [finding("statistics-frozen", net.role, message)] if still else []


def repeated_step(subject: Subject) -> tuple[list[Finding], float]:
    """One whole step twice from the same state: equal bytes, and statistics that moved once. Also the seconds of the second."""
    ends: list[dict[str, Tensor]] = []
    seconds = 0.0
    for _ in range(2):
        with restored(subject.state):
            started = time.perf_counter()
            subject.step(list(subject.batches)).numpy()
            seconds = time.perf_counter() - started
            ends.append({key: tf.identity(variable) for key, variable in subject.state.items()})
    return [*_differences(*ends), *_moves_per_step(subject, ends[0])], seconds


def _differences(first: dict[str, Tensor], second: dict[str, Tensor]) -> Iterator[Finding]:
    different = [key for key in first if first[key].numpy().tobytes() != second[key].numpy().tobytes()]
    if different:
        roles = [key.split("/")[0] for key in different if key.split("/")[0] in ("generator", "discriminator")]
        message = f"the same step from the same state gave other values of {named(different)}"
        cure = "random numbers in a net or a loss need keras.random with a SeedGenerator of the layer, or tf.random.stateless_*"
        yield finding("not-repeatable", tuple(roles[:1]) or ("training",), f"{message}, so no run could be repeated; {cure}")


def _moves_per_step(subject: Subject, end: dict[str, Tensor]) -> Iterator[Finding]:
    """With momentum m and a batch mean u, one move makes m*old + (1-m)*u. Twice as many are told apart by a second forward."""
    net = subject.nets.get("generator")
    owned = statistics(net) if net is not None else {}
    if net is None or not owned or subject.spec.training.accumulate > 1:
        return
    calls = Counter(row.name for row in layer_table(subject, net) if row.is_normalising)
    often = [name for name, count in calls.items() if count > 1]
    if often:
        message = (
            f"one forward of the generator calls the BatchNorm {named(often)} more than once, and each call moves its statistics"
        )
        yield finding("statistics-twice", "generator", f"{message}; make a BatchNorm for each place")
        return
    still = [key for key in owned if end[key].numpy().tobytes() == owned[key].numpy().tobytes()]
    expected = subject.spec.training.fakes == "fresh" or subject.spec.training.generator_mode == "train"
    if still and expected:
        message = f"one step does not move the generator's statistics {named(still)}: its BatchNorm runs in inference mode"
        yield finding("statistics-frozen", "generator", f"{message}; pass `training` on to the layer")
        return
    with restored(subject.state):
        trial = next(trial for trial in subject.trials if trial.role == "generator")
        trial.compute(subject.batch, tf.constant(0, tf.int64))
        once = {key: variable.numpy() for key, variable in owned.items()}
    other = [key for key, value in once.items() if not np.allclose(end[key].numpy(), value, rtol=1e-4, atol=1e-5)]
    if other:
        message = f"one step moves the generator's statistics {named(other)} otherwise than one forward does"
        yield finding("statistics-twice", "generator", f"{message}: they must move once per step; call each BatchNorm once")


def repeatable_forward(net: Net, inputs: tuple[Tensor, Tensor | None]) -> list[Finding]:
    """Two forwards in inference mode give equal bytes (this finds NumPy's random numbers, which a compiled step holds fixed)."""
    results = [tf.nest.flatten(net.model(*inputs, training=False)) for _ in range(2)]
    if all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in zip(*results, strict=True) if a is not None):
        return []
    message = f"the {net.role} gives other values for the same input with training=False; no run could be repeated"
    return [
        finding("not-repeatable", net.role, f"{message}; noise belongs in the latents, or in keras.random with a SeedGenerator")
    ]
