"""What the nets give: the shape and range of fakes beside those of real examples, and logits that are logits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from gantrain.deepcheck.findings import finding
from gantrain.deepcheck.subject import Subject, restored
from gantrain.interfaces import DiscriminatorOutput, Range, Tensor
from gantrain.spec.rules import Finding
from gantrain.training.facts import END

LOUD = 30.0  # factor of every weight, and of the input: what an activation bounds stays bounded, what nothing bounds does not
SLACK = 0.02  # of the range's width: what still counts as its end
LARGEST_SATURATION = 0.5  # share of an untrained generator's values at the ends of the range
SMALLEST_USE = 0.05  # share of the range that real examples must spread over


@dataclass(frozen=True)
class Figures:
    """Of one batch of examples."""

    dtype: str
    shape: tuple[int, ...]
    low: float
    high: float
    mean: float
    spread: float  # standard deviation over all numbers
    saturated: float | None  # share at the ends of the range; None without a range

    @classmethod
    def of(cls, examples: Tensor, data_range: Range | None = None) -> Figures:
        """Examples [B,...]."""
        x = np.asarray(examples, np.float32)
        ends = None
        if data_range is not None:
            low, high = data_range
            margin = END * (high - low)
            ends = float(np.mean((x < low + margin) | (x > high - margin)))
        return cls(examples.dtype.name, tuple(x.shape[1:]), float(x.min()), float(x.max()), float(x.mean()), float(x.std()), ends)


def side_by_side(subject: Subject) -> tuple[dict[str, Figures], list[Finding]]:
    """Figures of the first batch: real beside made, and what else the task compares."""
    with restored(subject.state):
        figures = {name: Figures.of(*item) for name, item in subject.shown().items()}
    real = _real(figures["real"], subject.data_range) if subject.is_real else iter(())
    made = [name for name in ("fake", "rebuilt") if name in figures]
    return figures, [*real, *(item for name in made for item in _saturated(figures[name], subject.maker or name))]


def _real(real: Figures, data_range: Range | None) -> Iterator[Finding]:
    if data_range is None:
        return
    low, high = data_range
    slack = SLACK * (high - low)
    found = f"real examples lie in [{real.low:.3g}, {real.high:.3g}], and the networks' range is [{low:g}, {high:g}]"
    if real.low < low - slack or real.high > high + slack:
        yield finding("data-range", "data.range", f"{found}: the generator cannot reach them; correct the source's value_range")
    elif real.high - real.low < SMALLEST_USE * (high - low):
        yield finding("data-range", "data.range", f"{found}: hardly any of it is used; correct the source's value_range")


def _saturated(made: Figures, role: str) -> Iterator[Finding]:
    if made.saturated is not None and made.saturated > LARGEST_SATURATION:
        share = f"{100 * made.saturated:.0f} % of the untrained {role}'s values lie at the ends of the range"
        yield finding("output-saturated", role, f"{share}, where hardly any gradient passes; start with smaller weights")


# ---------------------------------------------------------------- what bounds the outputs


def _loud(subject: Subject, role: str) -> tf.Tensor | DiscriminatorOutput:
    """The net with every weight and input enlarged."""
    net, (first, *others) = subject.nets[role], subject.inputs[role]
    assert first is not None  # labels may be missing, examples are not
    with restored(net.variables):
        for variable in net.trainable.values():
            variable.assign(LOUD * variable)
        return net.model(LOUD * tf.cast(first, tf.float32), *others, training=False)


def _finite(values: Tensor) -> np.ndarray:
    array = np.asarray(values, np.float64).ravel()
    return array[np.isfinite(array)]


def last_activation(subject: Subject) -> Iterator[Finding]:
    """Whether the maker's outputs end where the data's range ends, seen from what comes out and not from what is declared."""
    role = subject.maker
    values = _finite(_loud(subject, role)) if role is not None else np.zeros(0)
    if role is None or len(values) == 0 or np.ptp(values) == 0:  # a constant says nothing of a range
        return
    found = f"the {role}'s values end at {values.min():.3g} and {values.max():.3g} however large its weights are"
    if subject.data_range is None:
        real = np.asarray(subject.few["real"])
        bounded = np.abs(values).max() <= 1 + SLACK
        if bounded and subject.is_real and np.abs(real).max() > 1 + SLACK:
            yield finding("output-range", role, f"{found}, but the data goes beyond; let it end without an activation")
        return
    low, high = subject.data_range
    slack, wanted = SLACK * (high - low), f"the data's range is [{low:g}, {high:g}]"
    if values.min() < low - slack or values.max() > high + slack:
        message = f"nothing keeps the {role}'s values in the range: they reach {values.min():.3g} and {values.max():.3g}"
        yield finding("output-range", role, f"{message}, but {wanted}; {_cure(subject.data_range)}")
    elif values.min() > low + slack or values.max() < high - slack:
        yield finding("output-range", role, f"{found}, but {wanted}: the rest is never reached; {_cure(subject.data_range)}")


def _cure(data_range: Range) -> str:
    return f"let its last activation be {'sigmoid' if data_range[0] == 0 else 'tanh'}"


def logits(subject: Subject) -> Iterator[Finding]:
    """Whether something squashes the logits, whatever is declared."""
    if subject.game is None:
        return
    output = _loud(subject, "discriminator")
    values = _finite(output.logits)
    if len(values) and np.abs(values).max() <= 1.0 and np.ptp(values) > 0:
        message = (
            f"the discriminator's logits stay between {values.min():.3g} and {values.max():.3g} however large its weights are"
        )
        yield finding("logits-activation", "discriminator", f"{message}: a sigmoid or tanh is inside, but losses take raw logits")
    classes = output.class_logits
    if classes is not None and np.allclose(tf.reduce_sum(classes, axis=-1), 1.0, atol=1e-3):
        message = "the discriminator's class logits sum to 1: a softmax is inside, but the loss takes raw logits; remove it"
        yield finding("logits-activation", "discriminator", message)
