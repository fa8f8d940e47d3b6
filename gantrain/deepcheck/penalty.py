"""Penalties against finite differences: TensorFlow drops some second derivatives without a word.

For a kernel W and the unit vector u along the gradient g that the tape gives, the slope of the penalty P along u is |g| if g is
right. The slope is measured as (P(W + hu) - P(W - hu)) / 2h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import tensorflow as tf

from gantrain import registry
from gantrain.deepcheck.findings import finding
from gantrain.deepcheck.subject import Game, Subject, restored
from gantrain.interfaces import DiscriminatorOutput, PenaltyContext, PenaltySettings, Tensor
from gantrain.spec.rules import Finding
from gantrain.training.nets import Net

EXAMPLES = 4  # few: fewer kinks of a ReLU for a step to cross
KERNELS = 3  # the first, one in the middle, the last
# h in units of |W|, in the order they are tried; the first that agrees ends it. Large ones are for what rounding hides.
STEPS = (1e-3, 3e-4, 1e-4, 1e-2, 3e-2)
# float32 sums are right to about 1e-6 of P. A difference of 1e-4 of P is thus known to 1 %; curvature adds a few. A derivative
# that is cut is wrong by 15 % and more (measured: -0.42 for -0.36 behind a bilinear resize), and by the same at every small step.
# Steps that cross kinks of a ReLU give quotients that differ from each other by tens of per cent, and prove nothing.
VISIBLE = 1e-4
TOLERANCE = 0.07
STEADY = 0.03


def penalties(subject: Subject) -> Iterator[Finding]:
    """Each penalty of the spec that has a gradient by the discriminator's kernels. Float32 only: less cannot be measured."""
    if subject.game is None or subject.spec.training.precision != "float32":
        return
    context = _context_maker(subject.game, subject.nets["discriminator"])
    for index, settings in enumerate(getattr(subject.spec.objective, "penalties", ())):
        yield from _judge(subject.nets["discriminator"], settings, context, ("objective", "penalties", index))


def _judge(
    net: Net, settings: PenaltySettings, context: Callable[[], PenaltyContext], path: tuple[str | int, ...]
) -> Iterator[Finding]:
    penalty = registry.build(settings)
    own = dict(getattr(penalty, "variables", {}))

    def value() -> Tensor:
        return tf.reduce_mean(tf.cast(penalty(context()), tf.float32))

    def kept() -> Tensor:
        with restored({**own, **{key: net.variables[key] for key in net.variables if key not in net.trainable}}):
            return compiled()

    compiled = tf.function(value, autograph=False)
    kernels = {key: variable for key, variable in net.trainable.items() if len(variable.shape) > 1}
    with restored({**net.variables, **own}):
        with tf.GradientTape() as tape:
            total = compiled()
        gradients = tape.gradient(total, kernels)
    wrong = [word for key in _chosen(list(kernels)) if (word := _wrong(key, kernels[key], gradients[key], kept)) is not None]
    if wrong:
        name = registry.row_of(settings).name
        message = f"the gradient of the penalty {name} is wrong: {wrong[0]}"
        cure = "a layer of the discriminator has no second derivative (a bilinear resize, a stop_gradient, NumPy); take another"
        yield finding("penalty-gradient", path, f"{message}; {cure}")


def _chosen(keys: list[str]) -> list[str]:
    places = np.linspace(0, len(keys) - 1, min(KERNELS, len(keys))).round().astype(int)
    return [keys[place] for place in places]


def _wrong(key: str, kernel: tf.Variable, gradient: Tensor | None, value: Callable[[], Tensor]) -> str | None:
    """None if gradient and quotient agree for some step, or if rounding or kinks hide what is right; else both figures."""
    g = np.zeros_like(kernel.numpy()) if gradient is None else tf.convert_to_tensor(gradient).numpy()
    norm, size, middle = float(np.linalg.norm(g)), float(np.linalg.norm(kernel.numpy())), float(value())
    if not np.isfinite([norm, middle]).all() or middle == 0:
        return None
    direction = g / norm if norm > 0 else _any_direction(kernel.numpy().shape)
    slopes: dict[float, float] = {}
    for step in STEPS:
        slope = _slope(kernel, direction, step * size, value, middle)
        if slope is not None and abs(slope - norm) <= TOLERANCE * max(abs(slope), norm):
            return None
        slopes |= {} if slope is None else {step: slope}
    nearest = [slopes[step] for step in sorted(slopes)][:3]
    if len(nearest) < 2 or np.ptp(nearest) > STEADY * np.abs(nearest).max():
        return None
    return f"along {key} it is {norm:.3g}, but finite differences give {nearest[0]:.3g}"


def _slope(kernel: tf.Variable, direction: np.ndarray, h: float, value: Callable[[], Tensor], middle: float) -> float | None:
    """The central difference quotient; None where the difference drowns in rounding."""
    start = kernel.numpy()
    ends: list[float] = []
    for sign in (1.0, -1.0):
        kernel.assign(start + sign * h * direction)
        ends.append(float(value()))
    kernel.assign(start)
    difference = ends[0] - ends[1]
    return difference / (2 * h) if abs(difference) > VISIBLE * abs(middle) and np.isfinite(difference) else None


def _any_direction(shape: tuple[int, ...]) -> np.ndarray:
    direction = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    return direction / np.linalg.norm(direction)


def _context_maker(game: Game, net: Net) -> Callable[[], PenaltyContext]:
    real, fake = game.real[:EXAMPLES], tf.stop_gradient(game.fake()[:EXAMPLES])
    labels = None if game.labels is None else game.labels[:EXAMPLES]

    def judged(x: Tensor) -> DiscriminatorOutput:
        return net.model(x, labels, training=True)

    def context() -> PenaltyContext:
        key = tf.constant([3, 5], tf.int64)
        return PenaltyContext(
            lambda x: judged(x).logits, real, fake, labels, judged(real), judged(fake), key, lambda x: judged(x).logits
        )

    return context
