"""Rules about penalties, precision, replay and scores: what does not go together."""

# ruff: noqa: ARG001  every rule takes the spec and the facts

from __future__ import annotations

from collections.abc import Iterator

from gantrain.interfaces import PenaltySettings, ScheduleSettings, SourceFacts
from gantrain.registry import row_of
from gantrain.spec.aae import AaeSpec
from gantrain.spec.arithmetic import known_steps
from gantrain.spec.history import HistorySpec
from gantrain.spec.model import Spec
from gantrain.spec.problems import SpecPath
from gantrain.spec.rule import ALL, GAMES, Said, rule
from gantrain.spec.tasks import AnySpec

IDLE_SHARE = 0.95  # a rate of 0 for the last twentieth of a run is a matter of rounding
SLOW, SLOW_SHARE = 0.1, 0.5  # a tenth of the first rate is slow; for the last half of a run it may be meant


def _penalties(spec: Spec | AaeSpec) -> Iterator[tuple[SpecPath, str, PenaltySettings]]:
    for index, settings in enumerate(spec.objective.penalties):
        yield ("objective", "penalties", index), row_of(settings).name, settings


@rule("wasserstein-unconstrained", "warning", GAMES)
def wasserstein_unconstrained(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """A critic without a bound on its slope."""
    objective = spec.objective
    limits = [*objective.penalties, *objective.constraints]
    bounded = any(item.limits_slope() for item in limits) or "spectral_norm" in spec.discriminator.norms()
    if objective.loss.needs_constraint() and not bounded:
        yield (
            ("objective", "loss"),
            "this loss has no lower bound unless the discriminator's slope is limited: it runs away, and the generator "
            "learns nothing; "
            "write penalties: [gradient_penalty], or constraints: [clip_weights], or take hinge",
        )


@rule("penalty-batchnorm", "warning", GAMES)
def penalty_batchnorm(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """BatchNorm ties the examples of a batch together, a penalty per example takes them apart."""
    for path, name, settings in _penalties(spec):
        if settings.needs_second_derivatives() and "batch_norm" in spec.discriminator.norms():
            message = f"{name} asks for each example's own gradient, which BatchNorm in the discriminator mixes with the others'"
            yield path, f"{message}; write discriminator.norm: layer_norm, or none"


@rule("second-derivative", "error", GAMES)
def second_derivative(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """A penalty on the gradient of a net whose second derivatives are wrong or missing."""
    for path, name, settings in _penalties(spec):
        if settings.needs_second_derivatives() and not spec.discriminator.twice_differentiable():
            yield (
                path,
                f"{name} needs second derivatives, which this discriminator has not; take another penalty, or another net",
            )


@rule("penalty-unfit", "error", GAMES)
def penalty_unfit(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """A penalty that cannot be computed for such examples."""
    judged = (spec.code_size,) if isinstance(spec, AaeSpec) else facts.shape
    for path, name, settings in _penalties(spec):
        reason = settings.applicable(judged) if judged is not None else None
        if reason is not None:
            yield path, f"{name}: {reason}"


@rule("float16-penalty", "warning", GAMES)
def float16_penalty(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """float16 holds numbers up to 65,504; squared gradients leave it easily."""
    for path, name, settings in _penalties(spec):
        if settings.needs_second_derivatives() and spec.training.precision == "mixed_float16":
            yield path, f"{name} under mixed_float16 often overflows, and updates are left out; write precision: mixed_bfloat16"


@rule("indivisible-batch", "error")
def indivisible_batch(spec: Spec, facts: SourceFacts) -> Said:
    """A batch that cannot be cut into equal micro-batches."""
    batch, parts = spec.data.batch_size, spec.training.accumulate
    if batch % parts:
        near = max(batch // parts, 1) * parts
        yield ("training", "accumulate"), f"a batch of {batch} cannot be cut into {parts} equal parts; write batch_size: {near}"
    if parts > 1 and spec.data.epoch_end == "partial":
        yield (
            ("training", "accumulate"),
            "accumulate cuts each batch into equal parts, but epoch_end: partial has a smaller last one; write continue or drop",
        )


@rule("batchnorm-accumulate", "warning")
def batchnorm_accumulate(spec: Spec, facts: SourceFacts) -> Said:
    """Statistics of a micro-batch are not those of the batch."""
    nets = (spec.generator, spec.discriminator)
    if spec.training.accumulate > 1 and any("batch_norm" in net.norms() for net in nets):
        size = spec.data.batch_size // spec.training.accumulate
        yield (
            ("training", "accumulate"),
            f"BatchNorm takes its statistics over each part of {size} examples, not over the batch of {spec.data.batch_size}: "
            "another update than without accumulate; write norm: layer_norm for both nets, or accumulate: 1",
        )


@rule("replay-exceeds-run", "note")
def replay_exceeds_run(spec: Spec, facts: SourceFacts) -> Said:
    """A history that is never full gives nothing back."""
    steps = known_steps(spec, facts.length)
    if spec.replay is None or not steps:
        return
    fakes = steps * spec.training.discriminator_steps * spec.data.batch_size
    if spec.replay.size >= fakes:
        message = f"a history of {spec.replay.size} is not full before the run ends, after {fakes} fakes"
        yield ("replay", "size"), f"{message}: none would ever be shown again; write size: 50"


@rule("schedule-mismatch", "warning", ALL)
def schedule_mismatch(spec: AnySpec, facts: SourceFacts) -> Said:
    """A learning rate that is still on its way when the run ends, or has been zero for long."""
    steps = known_steps(spec, facts.length)
    images = (steps or 0) * spec.data.batch_size * spec.batches_per_step
    for role in type(spec.optimizers).model_fields:
        schedule = getattr(spec.optimizers, role).learning_rate
        if not steps or not isinstance(schedule, ScheduleSettings):
            continue
        said = _mismatch(schedule, images)
        if said is not None:
            yield ("optimizers", role, "learning_rate"), said


def _mismatch(schedule: ScheduleSettings, images: int) -> str | None:
    end = getattr(schedule, "images", None)
    if schedule.warmup_images > images:
        message = f"the warm-up takes {schedule.warmup_images:,.0f} images, but the run ends after {images:,}"
        return f"{message}: the rate never gets where it should; write warmup_images: {images // 20}"
    if end is not None and end > images:
        message = f"the rate reaches its end after {end:,.0f} images, but the run ends after {images:,}: it is still high then"
        return f"{message}; write images: {images}"
    last = getattr(schedule, "end", None)
    if end is not None and end < IDLE_SHARE * images and last == 0:
        message = f"the rate is 0 from image {end:,.0f} on, so the rest of the run's {images:,} changes nothing"
        return f"{message}; write images: {images}"
    if end is not None and end < SLOW_SHARE * images and last is not None and last <= SLOW * schedule.start:
        message = f"the rate has fallen to {last:g} by image {end:,.0f} and stays there for most of the run's {images:,}"
        return f"{message}, in which hardly anything changes; write images: {images}"
    return None


@rule("evaluation-unavailable", "error", ALL)
def evaluation_unavailable(spec: AnySpec, facts: SourceFacts) -> Said:
    """Scores that this data has not."""
    if spec.output.evaluate_every is None or isinstance(spec, AaeSpec):
        return
    if isinstance(spec, HistorySpec):
        yield ("output", "evaluate_every"), "task history has no scores, its loss is the measure; write evaluate_every: null"
    elif row_of(spec.data.source).name != "gaussian_mixture":
        yield (
            ("output", "evaluate_every"),
            "there is no score for this source, only for gaussian_mixture (mode coverage); write evaluate_every: null",
        )
