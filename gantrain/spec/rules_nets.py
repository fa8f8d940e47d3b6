"""Rules about the nets: the last activation against the range, sizes that can be built, BatchNorm where it fails."""

# ruff: noqa: ARG001  every rule takes the spec and the facts

from __future__ import annotations

from gantrain.interfaces import Range, SourceFacts
from gantrain.spec.aae import AaeSpec
from gantrain.spec.model import Spec
from gantrain.spec.rule import ALL, GAMES, Said, rule
from gantrain.spec.tasks import AnySpec

ACTIVATION_OF_RANGE: dict[Range | None, str] = {(-1.0, 1.0): "tanh", (0.0, 1.0): "sigmoid", None: "linear"}


def _words(data_range: Range | None) -> str:
    return "null" if data_range is None else f"[{data_range[0]:g}, {data_range[1]:g}]"


@rule("activation-range", "error", GAMES)
def activation_range(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """A generator (or decoder) whose values can never be, or are not bounded like, the data's."""
    role, net = ("decoder", spec.decoder) if isinstance(spec, AaeSpec) else ("generator", spec.generator)
    data_range = spec.data.range
    activation, wanted = net.last_activation(data_range), ACTIVATION_OF_RANGE.get(data_range)
    if wanted is None:
        known = ", ".join(_words(known) for known in ACTIVATION_OF_RANGE)
        yield (
            ("data", "range"),
            f"no activation ends at {_words(data_range)}, so no {role} could keep to it; write one of {known}",
        )
    elif activation != wanted:
        fits = [_words(known) for known, name in ACTIVATION_OF_RANGE.items() if name == activation and known is not None]
        other = f", or data.range: {fits[0]}" if fits and facts.bounded is not False else ""
        clash = f"the {role} ends with {activation}, but data.range is {_words(data_range)}, which needs {wanted}"
        has_key = "activation" in type(net).model_fields
        cure = f"write {role}.activation: {wanted}" if has_key else f"let it end with {wanted}"
        yield ((role, "activation") if has_key else (role,)), f"{clash}: {_why(role, activation, data_range)}; {cure}{other}"


def _why(role: str, activation: str, data_range: Range | None) -> str:
    """What goes wrong when this last activation meets this range."""
    then = "no reconstruction is right there" if role == "decoder" else "the discriminator tells fakes at a glance"
    if data_range is None:
        return f"it can never reach the data's far values, so {then}"
    if activation == "linear":
        then = "reconstructions are no pictures" if role == "decoder" else then
        return f"its values leave the range, so {then}"
    return f"part of the range is never reached, so {then}"


@rule("logits-activation", "error", GAMES)
def logits_activation(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """A discriminator that squashes its logits before the loss does."""
    activation = spec.discriminator.last_activation()
    if activation != "linear":
        yield (
            ("discriminator",),
            f"the discriminator ends with {activation}, but losses take raw logits: they squash them themselves, and twice "
            "leaves hardly any gradient; let its last activation be linear",
        )


@rule("size-unbuildable", "error", ALL)
def size_unbuildable(spec: AnySpec, facts: SourceFacts) -> Said:
    """An example's shape that a net's stages cannot reach."""
    for role, net in spec.nets.items():
        of_codes = isinstance(spec, AaeSpec) and role == "discriminator"
        shape = (spec.code_size,) if isinstance(spec, AaeSpec) and of_codes else facts.shape
        reason = None if shape is None else net.buildable(shape)
        if reason is not None:
            judged = ": it judges codes, which are vectors" if of_codes else ""
            yield (role,), f"the {role} cannot be built{judged}: {reason}"


@rule("batchnorm-inference", "error")
def batchnorm_inference(spec: Spec, facts: SourceFacts) -> Said:
    """Moving statistics that would never move."""
    training = spec.training
    if training.generator_mode == "inference" and training.fakes == "shared" and "batch_norm" in spec.generator.norms():
        message = (
            "with generator_mode: inference and fakes: shared the generator's BatchNorm statistics never change; "
            "write generator_mode: train, or fakes: fresh, or a generator with norm: none"
        )
        yield ("training", "generator_mode"), message


@rule("batchnorm-small-batch", "error", ALL)
def batchnorm_small_batch(spec: AnySpec, facts: SourceFacts) -> Said:
    """Statistics of a single example: BatchNorm would subtract the example from itself."""
    roles = [role for role, net in spec.nets.items() if "batch_norm" in net.norms()]
    batch, parts = spec.data.batch_size, spec.training.accumulate
    where = f"BatchNorm in the {' and the '.join(roles)} subtracts a lone example from itself"
    if not roles:
        return
    if batch == 1:
        yield ("data", "batch_size"), f"{where}: a batch of 1 trains nothing; write batch_size: 8 or more, or norm: none"
    elif batch == parts:
        cure = f"write accumulate: {max(batch // 8, 1)}, or norm: none"
        yield ("training", "accumulate"), f"{where}: accumulate: {parts} cuts a batch of {batch} into parts of 1; {cure}"
    elif spec.data.epoch_end == "partial" and facts.length is not None and facts.length % batch == 1:
        cure = "write epoch_end: continue or drop, or another batch_size"
        yield ("data", "epoch_end"), f"{where}: the last batch of each epoch holds 1 example ({facts.length} in {batch}s); {cure}"
