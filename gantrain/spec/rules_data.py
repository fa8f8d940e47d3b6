"""Rules about the data: how much of it there is, in which order it comes, what its labels are for."""

# ruff: noqa: ARG001  every rule takes the spec and the facts

from __future__ import annotations

from gantrain.interfaces import SourceFacts
from gantrain.spec.aae import AaeSpec
from gantrain.spec.arithmetic import known_steps
from gantrain.spec.model import Spec
from gantrain.spec.rule import ALL, GAMES, Said, rule
from gantrain.spec.tasks import AnySpec

FEW_PICTURES = 1000  # below this a GAN without augmentation mostly learns its pictures by heart
SMALL_BUFFER = 1000  # a shuffle buffer of this size is enough where a quarter of the data is not more
SPLITS = frozenset({"train", "training", "test", "testing", "val", "valid", "validation", "eval", "dev"})
SMALL_SIDE = 8  # pictures of at most this side are toys, of which few are enough


def smallest_buffer(length: int) -> int:
    """max(N/4, min(N, 1000)), rounded up: less than that and an epoch is hardly shuffled."""
    return max(-(-length // 4), min(length, SMALL_BUFFER))


def _is_picture(facts: SourceFacts) -> bool:
    return facts.shape is not None and len(facts.shape) == 3


@rule("buffer-too-small", "error", ALL)
def buffer_too_small(spec: AnySpec, facts: SourceFacts) -> Said:
    """A buffer that leaves the order of the files in the data."""
    buffer = spec.data.shuffle_buffer
    if facts.length is None or buffer == "full" or buffer >= smallest_buffer(facts.length):
        return
    smallest = smallest_buffer(facts.length)
    law = f"N = {facts.length} examples need max(N/4, min(N, {SMALL_BUFFER}))"
    yield ("data", "shuffle_buffer"), f"a buffer of {buffer} hardly shuffles: {law}; write {smallest} or more, or full"


@rule("batch-exceeds-data", "error", ALL)
def batch_exceeds_data(spec: AnySpec, facts: SourceFacts) -> Said:
    """A batch that would hold some examples twice."""
    if facts.length is not None and spec.data.batch_size > facts.length:
        message = (
            f"a batch of {spec.data.batch_size} is larger than the data, {facts.length} examples, and would hold some twice; "
            f"write {facts.length} or less"
        )
        yield ("data", "batch_size"), message


@rule("zero-steps", "error", ALL)
def zero_steps(spec: AnySpec, facts: SourceFacts) -> Said:
    """Epochs too short for a single step."""
    if known_steps(spec, facts.length) == 0:
        updates, batch = spec.batches_per_step, spec.data.batch_size
        need = f"one step takes {updates} whole batches of {batch}" if updates > 1 else f"one step takes a batch of {batch}"
        message = (
            f"epochs: {spec.training.epochs} of {facts.length} examples is no step at all: {need}; write more epochs, or steps"
        )
        yield ("training", "epochs"), message


@rule("labels-missing", "error", GAMES)
def labels_missing(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """A conditional net without classes."""
    if facts.shape is None or facts.num_classes is not None:
        return
    for role, net in spec.nets.items():
        if net.uses_labels():
            yield (
                (role,),
                f"the {role} uses labels, but the source has none; add labels to the source, or write conditioning: null",
            )


@rule("labels-unused", "note")
def labels_unused(spec: Spec, facts: SourceFacts) -> Said:
    """Classes that nobody looks at: fine, and worth knowing."""
    if _is_picture(facts) and facts.num_classes is not None and not spec.uses_labels:
        yield (
            ("data", "source"),
            f"the source has {facts.num_classes} classes, which neither net uses; `conditioning` makes a net use them",
        )


@rule("labels-half-used", "warning")
def labels_half_used(spec: Spec, facts: SourceFacts) -> Said:
    """Labels in one net only: nothing ties the generator's pictures to their labels."""
    uses = {"generator": spec.generator.uses_labels(), "discriminator": spec.discriminator.uses_labels()}
    if facts.num_classes is None or len(set(uses.values())) == 1:
        return
    deaf = "generator" if uses["discriminator"] else "discriminator"
    other = "discriminator" if uses["discriminator"] else "generator"
    yield (deaf,), f"only the {other} uses labels; give the {deaf} a `conditioning` too, or neither"


@rule("single-class", "warning", GAMES)
def single_class(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """Labels that say nothing."""
    if facts.num_classes == 1 and spec.uses_labels:
        yield ("data", "source"), "labels are used, but there is only one class, which says nothing; write conditioning: null"


@rule("split-as-class", "warning", ALL)
def split_as_class(spec: AnySpec, facts: SourceFacts) -> Said:
    """A folder with train/ and test/ read as if those were kinds of pictures."""
    names = facts.class_names
    if names and all(name.lower() in SPLITS for name in names):
        yield (
            ("data", "source"),
            f"the classes are {', '.join(names)}: parts of a set, not kinds of pictures; give the folder of one part as `path`, "
            "or write labels: null",
        )


@rule("range-unbounded", "error", ALL)
def range_unbounded(spec: AnySpec, facts: SourceFacts) -> Said:
    """A target range for values that have none of their own."""
    if facts.bounded is False and spec.data.range is not None:
        yield (
            ("data", "range"),
            f"the source's values have no bounds and cannot be brought to {list(spec.data.range)}; write range: null",
        )


@rule("range-missing", "warning", ALL)
def range_missing(spec: AnySpec, facts: SourceFacts) -> Said:
    """Pictures as they are, mostly 0 to 255: too large for a fresh net."""
    if _is_picture(facts) and spec.data.range is None:
        yield ("data", "range"), "range: null leaves pictures at 0 to 255, which nets hardly learn; write range: [-1, 1]"


@rule("tiny-data", "warning", GAMES)
def tiny_data(spec: Spec | AaeSpec, facts: SourceFacts) -> Said:
    """So few pictures that the nets learn them by heart."""
    if facts.length is None or facts.length >= FEW_PICTURES or facts.shape is None or not _is_picture(facts):
        return
    if max(facts.shape[:2]) > SMALL_SIDE:
        message = f"{facts.length} pictures are few: below {FEW_PICTURES} the nets tend to learn them by heart; add pictures"
        yield ("data", "source"), message


@rule("latent-size", "warning")
def latent_size(spec: Spec, facts: SourceFacts) -> Said:
    """Latents with one number, or with more numbers than a picture has."""
    if facts.shape is None or not _is_picture(facts):
        return
    height, width, channels = facts.shape
    numbers, size = height * width * channels, spec.latent.size
    if size == 1:
        yield ("latent", "size"), "one latent number gives pictures along one line only; 32 to 128 are usual"
    if size > numbers:
        yield ("latent", "size"), f"{size} latent numbers are more than the {numbers} of a picture; {min(numbers, 64)} are enough"
