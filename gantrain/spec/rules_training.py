"""Rules about the loss, the optimizers and the length of the run."""

# ruff: noqa: ARG001  every rule takes the spec and the facts

from __future__ import annotations

from collections.abc import Iterator

from gantrain.interfaces import OptimizerSettings, ScheduleSettings, SourceFacts
from gantrain.registry import row_of
from gantrain.spec.aae import AaeSpec
from gantrain.spec.arithmetic import known_steps
from gantrain.spec.model import Ema, Spec
from gantrain.spec.problems import SpecPath
from gantrain.spec.rule import ALL, GAMES, Said, rule
from gantrain.spec.tasks import AnySpec

INTERVALS = ("log_every", "sample_every", "checkpoint_every", "evaluate_every")
USUAL_LEARNING_RATES = {"adam": (1e-6, 5e-3), "rmsprop": (1e-6, 5e-3), "sgd": (1e-5, 1.0)}  # GANs in papers lie well inside
ANY_LEARNING_RATES = (1e-6, 1e-1)  # of an optimizer we do not know
USUAL_BETA_1 = (0.0, 0.9)
USUAL_BETA_2 = (0.9, 0.9999)


def _optimizers(spec: AnySpec) -> Iterator[tuple[SpecPath, OptimizerSettings]]:
    for role in type(spec.optimizers).model_fields:
        yield ("optimizers", role), getattr(spec.optimizers, role)


@rule("steps-or-epochs", "error", ALL)
def steps_or_epochs(spec: AnySpec, facts: SourceFacts) -> Said:
    """The length of the run, said twice or not at all."""
    steps, epochs = spec.training.steps, spec.training.epochs
    if steps is not None and epochs is not None:
        yield ("training", "epochs"), f"steps: {steps} and epochs: {epochs} are both given; remove one of them"
    if steps is None and epochs is None:
        yield ("training",), "the length of the run is missing; write steps: 2500, or epochs: 20"


@rule("partial-jit", "error", ALL)
def partial_jit(spec: AnySpec, facts: SourceFacts) -> Said:
    """XLA compiles once per shape; a smaller last batch is another shape."""
    if spec.training.jit and spec.data.epoch_end == "partial":
        yield (
            ("training", "jit"),
            "jit: true compiles for one batch size, but epoch_end: partial has two; write epoch_end: drop or continue",
        )


@rule("minimax-vanishing", "note", GAMES)
def minimax_vanishing(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """The generator of the original minimax game hardly learns from a strong discriminator."""
    if spec.objective.loss.is_saturating():
        yield (
            ("objective", "loss"),
            "the generator's gradient vanishes when the discriminator is sure, which it soon is; write loss: non_saturating",
        )


@rule("interval-exceeds-run", "note", ALL)
def interval_exceeds_run(spec: AnySpec, facts: SourceFacts) -> Said:
    """Events that only come at the end."""
    steps = known_steps(spec, facts.length)
    every = {key: getattr(spec.output, key) for key in INTERVALS}
    late = [key for key, value in every.items() if steps and isinstance(value, int) and value > steps]
    if late:
        yield ("output", late[0]), f"longer than the run of {steps} steps: {', '.join(late)}; that happens once, at the end"


@rule("ema-longer-than-run", "warning")
def ema_longer_than_run(spec: Spec, facts: SourceFacts) -> Said:
    """An average that still holds half of the untrained weights when the run ends."""
    steps, ema = known_steps(spec, facts.length), spec.training.ema
    if not steps or ema is None:
        return
    images = steps * spec.data.batch_size * spec.training.discriminator_steps
    half_life = _half_life_at(images, ema)
    if half_life > images:
        message = f"a half-life of {half_life:,.0f} images is longer than the run, {images:,} images: what is sampled at the end"
        yield ("training", "ema"), f"{message} would still be mostly untrained weights; write {images / 10:g} or less"


def _half_life_at(images: int, ema: Ema) -> float:
    """min(half_life_images, ramp * images_seen)."""
    return ema.half_life_images if ema.ramp is None else min(ema.half_life_images, ema.ramp * images)


@rule("learning-rate-range", "warning", ALL)
def learning_rate_range(spec: AnySpec, facts: SourceFacts) -> Said:
    """Most often a lost or added zero."""
    for path, settings in _optimizers(spec):
        low, high = USUAL_LEARNING_RATES.get(row_of(settings).name, ANY_LEARNING_RATES)
        rate = getattr(settings, "learning_rate", None)
        rate = rate.start if isinstance(rate, ScheduleSettings) else rate
        if isinstance(rate, float) and not low <= rate <= high:
            yield (
                (*path, "learning_rate"),
                f"a learning rate of {rate:g} is outside the usual {low:g} to {high:g} of {row_of(settings).name}: "
                f"{'the nets jump about' if rate > high else 'the nets hardly move'}; 2e-4 is common with adam",
            )


@rule("beta-range", "warning", GAMES)
def beta_range(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """Momentum so long, or second moments so short, that GANs seldom train."""
    for key, (low, high), common in (("beta_1", USUAL_BETA_1, "0 or 0.5"), ("beta_2", USUAL_BETA_2, "0.99 or 0.999")):
        for path, settings in _optimizers(spec):
            beta = getattr(settings, key, None)
            if isinstance(beta, float) and not low <= beta <= high:
                message = f"{key} of {beta:g} is outside the usual {low:g} to {high:g}: {_of_beta(key, beta > high)}"
                yield (*path, key), f"{message}; {common} is common"


def _of_beta(key: str, large: bool) -> str:
    """What such a beta leads to."""
    if key == "beta_1":
        return "each net goes on in the direction of an opponent that is there no more, and they circle"
    return "steps hardly follow the gradient's size" if large else "one large gradient decides the size of the steps"
