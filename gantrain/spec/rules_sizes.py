"""Rules about figures that are hardly meant, and about things written that have no effect."""

# ruff: noqa: ARG001  every rule takes the spec and the facts

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from gantrain.interfaces import Settings, SourceFacts
from gantrain.registry import row_of
from gantrain.spec.aae import AaeSpec
from gantrain.spec.arithmetic import known_steps
from gantrain.spec.history import HistorySpec
from gantrain.spec.model import Spec
from gantrain.spec.problems import SpecPath, dotted
from gantrain.spec.rule import ALL, GAMES, Said, rule
from gantrain.spec.tasks import AnySpec

# Beyond these nobody trains a GAN; most often a zero too many. Keys are the last part of the setting's path.
LARGEST: dict[str, tuple[float, str]] = {
    "batch_size": (65_536, "such a batch hardly fits into memory"),
    "discriminator_steps": (50, "the generator would hardly ever be updated"),
    "accumulate": (4096, "each part is computed after the other"),
    "sample_count": (4096, "each grid of samples would take minutes and fill the disk"),
    "keep_last": (1000, "each checkpoint holds both nets and their optimizers"),
    "base_width": (2048, "the nets would have billions of parameters"),
    "max_width": (8192, "the nets would have billions of parameters"),
    "width": (4096, "the nets would have billions of parameters"),
    "units": (65_536, "the nets would have billions of parameters"),
    "kernel_size": (31, "such a filter is larger than most pictures' maps"),
    "embedding_size": (8192, "the class vectors would drown the latents"),
}
MOST_STEPS = 20_000_000  # about three months at three steps a second
LARGEST_LATENT = 16_384
USUAL_WEIGHTS = (1e-6, 1e4)  # of penalties
LARGEST_CLIP = 0.1  # weights are of this size anyway


@rule("size-implausible", "warning", ALL)
def size_implausible(spec: AnySpec, facts: SourceFacts) -> Said:
    """A zero too many."""
    steps = known_steps(spec, facts.length) or 0
    if steps > MOST_STEPS:
        key = "steps" if spec.training.steps is not None else "epochs"
        yield ("training", key), f"{steps} steps take {steps / 3 / 86400:,.0f} days at three a second; is there a zero too many?"
    if isinstance(spec, Spec) and spec.latent.size > LARGEST_LATENT:
        yield ("latent", "size"), f"{spec.latent.size} latent numbers are far more than any net uses; 32 to 512 are usual"
    for key, settings in ({"data": spec.data, "training": spec.training, "output": spec.output} | _nets(spec)).items():
        yield from _too_large((key,), settings)


def _nets(spec: AnySpec) -> dict[str, Settings]:
    """By their keys in the spec."""
    return {"model": spec.model} if isinstance(spec, HistorySpec) else dict(spec.nets)


def _too_large(path: SpecPath, settings: Settings) -> Said:
    for key, (largest, why) in LARGEST.items():
        value: Any = getattr(settings, key, None)
        items = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
        numbers: list[float] = [number for number in items if _is_number(number)]
        if numbers and max(numbers) > largest:
            place = (*path, key)
            yield place, f"{dotted(place)} of {max(numbers)} is implausible: {why}; at most {largest:,} makes sense"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@rule("width-without-effect", "warning", GAMES)
def width_without_effect(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """A base width that the largest width cuts off."""
    for role, net in spec.nets.items():
        base, most = getattr(net, "base_width", None), getattr(net, "max_width", None)
        if base is not None and most is not None and base > most:
            yield (role, "base_width"), f"base_width: {base} is cut off at max_width: {most}; write a max_width of {base} or more"


# ---------------------------------------------------------------- penalties, regularisers, constraints


def _added(spec: Spec | AaeSpec) -> Iterator[tuple[SpecPath, str, Settings]]:
    objective = spec.objective
    lists = {"penalties": objective.penalties, "regularisers": objective.regularisers, "constraints": objective.constraints}
    for key, items in lists.items():
        for index, settings in enumerate(items):
            yield ("objective", key, index), row_of(settings).name, settings


@rule("penalty-duplicate", "error", GAMES)
def penalty_duplicate(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """The same penalty, regulariser or constraint twice: surely a slip, and its weight would be the sum."""
    seen: dict[tuple[SpecPath, str], SpecPath] = {}
    for path, name, _ in _added(spec):
        first = seen.setdefault((path[:-1], name), path)
        if first != path:
            yield path, f"{name} is there already, at {dotted(first)}: it would count twice; remove one of them"


@rule("weight-range", "warning", GAMES)
def weight_range(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """Weights that switch a penalty off, or drown the loss; clipping that clips nothing."""
    low, high = USUAL_WEIGHTS
    for path, name, settings in _added(spec):
        weight, limit = getattr(settings, "weight", None), getattr(settings, "limit", None)
        if weight == 0:
            yield (*path, "weight"), f"{name} with a weight of 0 has no effect; remove it, or give it a weight"
        elif _is_number(weight) and weight is not None and not low <= weight <= high:
            words = "drowns the loss" if weight > high else "has hardly any effect"
            yield (
                (*path, "weight"),
                f"{name} with a weight of {weight:g} {words}; its default is {_default(settings, 'weight'):g}",
            )
        if name == "clip_weights" and limit is not None and limit > LARGEST_CLIP:
            message = f"a limit of {limit:g} clips hardly any weight, so the discriminator's slope is not bounded; 0.01 is common"
            yield (*path, "limit"), message


def _default(settings: Settings, key: str) -> float:
    return float(type(settings).model_fields[key].default)


@rule("penalty-never-due", "warning", GAMES)
def penalty_never_due(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """A lazy penalty that comes once in the whole run."""
    steps = known_steps(spec, facts.length)
    for index, settings in enumerate(spec.objective.penalties):
        if steps and 1 < settings.every >= steps:
            name = row_of(settings).name
            message = f"{name} each {settings.every} steps is applied once in a run of {steps}; every: 16 is common"
            yield ("objective", "penalties", index, "every"), message


@rule("augment-unfit", "error", ALL)
def augment_unfit(spec: AnySpec, facts: SourceFacts) -> Said:
    """Mirroring what is no picture."""
    if spec.data.augment.horizontal_flip and facts.shape is not None and len(facts.shape) != 3:
        yield (
            ("data", "augment", "horizontal_flip"),
            f"examples of shape {list(facts.shape)} are not pictures to mirror; write false",
        )
