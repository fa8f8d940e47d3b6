"""Rules of task `aae`, and of priors: sizes, labels, and what the reconstruction's loss can compare."""

# ruff: noqa: ARG001  every rule takes the spec and the facts

from __future__ import annotations

import math

from gantrain.interfaces import PriorSettings, ScheduleSettings, SourceFacts
from gantrain.registry import row_of
from gantrain.spec.aae import AaeSpec
from gantrain.spec.arithmetic import known_steps
from gantrain.spec.model import Spec
from gantrain.spec.problems import SpecPath
from gantrain.spec.rule import AAE, GAMES, GAN, Said, rule


@rule("prior-size", "error", GAMES)
def prior_size(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """A law that such latents cannot have."""
    prior, size, place = _prior(spec)
    reason = prior.fits(size)
    if reason is not None:
        yield (*place, "size"), f"the prior {row_of(prior).name} cannot have {size} numbers: {reason}"


def _prior(spec: Spec | AaeSpec) -> tuple[PriorSettings, int, SpecPath]:
    """The law, its size, and the mapping whose `size` that is."""
    if isinstance(spec, AaeSpec):
        return spec.prior, spec.code_size, ("prior",)
    return spec.latent.distribution, spec.latent.size, ("latent",)


@rule("prior-by-label", "error", GAN)
def prior_by_label(spec: Spec, facts: SourceFacts) -> Said:
    """Latents of a generator have one law, whatever the class."""
    if spec.latent.distribution.uses_labels():
        yield ("latent", "distribution"), "a prior by label is for task aae; write by_label: false"


@rule("prior-label-unread", "error", AAE)
def prior_label_unread(spec: AaeSpec, facts: SourceFacts) -> Said:
    """A prior by label that nobody compares label by label: the discriminator would see the whole law only."""
    if spec.prior.uses_labels() and not spec.discriminator.uses_labels():
        yield (
            ("discriminator",),
            "the prior differs by label, but the discriminator does not read labels, so nothing ties a class to its part of the "
            "prior; write conditioning: concat for the discriminator, or by_label: false for the prior",
        )


@rule("prior-labels-missing", "error", AAE)
def prior_labels_missing(spec: AaeSpec, facts: SourceFacts) -> Said:
    """A prior by label without labels."""
    if facts.shape is not None and facts.num_classes is None and spec.prior.uses_labels():
        yield (
            ("prior",),
            "the prior differs by label, but the source has none; add labels to the source, or write by_label: false",
        )


@rule("prior-modes", "error", AAE)
def prior_modes(spec: AaeSpec, facts: SourceFacts) -> Said:
    """Fewer modes than classes: two classes would share one."""
    modes = getattr(spec.prior, "modes", None)
    if spec.prior.uses_labels() and modes is not None and facts.num_classes is not None and modes < facts.num_classes:
        message = f"{facts.num_classes} classes need as many modes, there are {modes}; write modes: {facts.num_classes}"
        yield ("prior", "modes"), message


@rule("reconstruction-range", "error", AAE)
def reconstruction_range(spec: AaeSpec, facts: SourceFacts) -> Said:
    """A cross entropy compares probabilities."""
    if spec.objective.reconstruction == "binary_cross_entropy" and spec.data.range != (0.0, 1.0):
        span = "null" if spec.data.range is None else list(spec.data.range)
        yield (
            ("objective", "reconstruction"),
            f"binary_cross_entropy is for values in [0, 1], but data.range is {span}; write data.range: [0, 1], or "
            "reconstruction: mse",
        )


@rule("code-size", "warning", AAE)
def code_size(spec: AaeSpec, facts: SourceFacts) -> Said:
    """Codes that are not smaller than the example: nothing has to be learnt to copy it."""
    numbers = None if facts.shape is None else math.prod(facts.shape)
    if numbers is not None and spec.code_size >= numbers:
        yield (
            ("prior", "size"),
            f"a code of {spec.code_size} numbers is not smaller than an example of {numbers}; "
            f"write {max(numbers // 2, 1)} or less",
        )


@rule("weight-schedule-mismatch", "note", AAE)
def weight_schedule_mismatch(spec: AaeSpec, facts: SourceFacts) -> Said:
    """A weight that is still on its way when the run ends."""
    schedule, steps = spec.objective.weight, known_steps(spec, facts.length)
    wanted = getattr(schedule, "images", 0) if isinstance(schedule, ScheduleSettings) else 0
    images = (steps or 0) * spec.data.batch_size
    if steps and wanted > images:
        yield (
            ("objective", "weight"),
            f"the weight reaches its end after {wanted:g} images, but the run ends after {images}; write images: {images}",
        )
