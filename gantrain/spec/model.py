"""The spec: what a YAML file may say, with every default. Nothing else in gantrain holds a default of the user's settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from gantrain.interfaces import (
    ConstraintSettings,
    DiscriminatorSettings,
    GeneratorSettings,
    LossSettings,
    NetSettings,
    OptimizerSettings,
    PenaltySettings,
    PriorSettings,
    Range,
    RegulariserSettings,
    Settings,
    SourceSettings,
)
from gantrain.spec.component import Component, named

Positive = Annotated[int, Field(ge=1)]
NAME = r"^[A-Za-z0-9_][A-Za-z0-9._-]*$"  # a directory's name on every system
NAME_WORDS = "text of at most 100 letters, digits, '.', '_' and '-', that starts with a letter, a digit or '_'"


class Augment(Settings):
    """Random changes of the real examples, keyed by (seed, epoch, index)."""

    horizontal_flip: bool = False  # mirror half of the pictures


class Data(Settings):
    """Where examples come from, in which range the networks see them, in which order they come."""

    source: Annotated[SourceSettings, Component("source")]
    range: Range | None = (-1.0, 1.0)  # what the networks see; null: values as they are (vectors)
    batch_size: Positive = 64  # examples per batch, over all replicas
    shuffle_buffer: Literal["full"] | Positive = "full"  # full: a uniform permutation of the whole set each epoch
    epoch_end: Literal["continue", "partial", "drop"] = "continue"  # continue: batches run across epochs
    augment: Augment = Augment()

    @property
    def sequential(self) -> bool:
        """Whether examples come in their own order, epoch after epoch."""
        return False

    @field_validator("range")
    @classmethod
    def _check_range(cls, value: Range | None) -> Range | None:
        if value is not None and not value[0] < value[1]:
            raise ValueError("the first number must be less than the second, such as [-1, 1]")
        return value


class Latent(Settings):
    """The generator's input."""

    size: Positive = 100  # numbers per example
    distribution: Annotated[PriorSettings, Component("prior")] = named("normal")


class Objective(Settings):
    """The two losses and what is added to the discriminator's."""

    loss: Annotated[LossSettings, Component("loss")] = named("non_saturating")
    penalties: tuple[Annotated[PenaltySettings, Component("penalty")], ...] = ()
    regularisers: tuple[Annotated[RegulariserSettings, Component("regulariser")], ...] = ()  # of the discriminator's weights
    constraints: tuple[Annotated[ConstraintSettings, Component("constraint")], ...] = ()  # after each discriminator update
    class_weight: Annotated[float, Field(ge=0)] = 1.0  # factor of the classification loss, with conditioning: auxiliary


class Optimizers(Settings):
    """One optimizer per network, always two instances."""

    generator: Annotated[OptimizerSettings, Component("optimizer")] = named("adam")
    discriminator: Annotated[OptimizerSettings, Component("optimizer")] = named("adam")


class Ema(Settings):
    """Moving average of the generator, by half-life, ramped up at the start."""

    half_life_images: Annotated[float, Field(ge=0)] = 10000  # images; 0 copies the weights
    ramp: Annotated[float, Field(gt=0)] | None = 0.05  # half-life is at most ramp * images_seen; null: no ramp


class Training(Settings):
    """How long, in which order, and with which arithmetic."""

    steps: Positive | None = None  # or epochs, never both
    epochs: Positive | None = None
    discriminator_steps: Positive = 1  # discriminator updates per step, each with its own batch
    fakes: Literal["shared", "fresh"] = "shared"  # shared: one generator forward serves both updates
    generator_mode: Literal["train", "inference"] = "train"  # how the discriminator's fakes are made
    updates: Literal["alternating", "simultaneous"] = "alternating"
    accumulate: Positive = 1  # micro-batches that each batch is cut into, to save memory; the update is that of the whole batch
    precision: Literal["float32", "mixed_bfloat16", "mixed_float16"] = "float32"
    jit: bool = False  # compile the step with XLA
    steps_per_call: Positive | Literal["auto"] = "auto"  # auto: one call lasts about half a second
    deterministic: bool | Literal["auto"] = "auto"  # auto: op determinism on a GPU, nothing to do on a CPU
    ema: Ema | None = Ema()
    clip_norm: Annotated[float, Field(gt=0)] | None = None  # limit of the global norm of each net's reduced gradient
    on_nonfinite: Literal["abort", "skip", "rollback"] = "abort"  # what an update that is NaN or infinite leads to
    skip_budget: Annotated[int, Field(ge=0)] = 100  # updates that on_nonfinite: skip may leave out in a run
    rollback_budget: Annotated[int, Field(ge=0)] = 3  # times that on_nonfinite: rollback may go back in a run
    health: Literal["warn", "stop", "off"] = "warn"  # what signs of collapse lead to


class Replay(Settings):
    """A history of fakes: the discriminator also sees earlier ones (Shrivastava et al. 2017)."""

    size: Positive = 50  # examples kept
    probability: Annotated[float, Field(ge=0, le=1)] = 0.5  # that an example is exchanged for an earlier one, once it is full


class Minutes(Settings):
    """An interval in running time."""

    minutes: Annotated[float, Field(gt=0)]


class KeepBest(Settings):
    """Which score ranks checkpoints, and which end of it is the good one."""

    metric: str  # a score as metrics.jsonl names it: eval/...
    better: Literal["higher", "lower"]


class Output(Settings):
    """Where a run is written and how often; intervals are in steps."""

    dir: str = "runs"  # run directories are numbered inside it; relative to the current directory, not to the config file
    log_every: Positive = 50
    sample_every: Positive = 500
    checkpoint_every: Positive | Minutes = 500  # steps, or {minutes: 10}
    evaluate_every: Positive | None = None  # scores of samples of the averaged generator; null: never
    keep_last: Positive = 3  # checkpoints kept, the newest
    keep_best: KeepBest | None = None  # {metric: eval/..., better: lower}: the best checkpoint by this score stays as well
    sample_count: Positive = 64  # pictures per grid, with fixed latents


class Spec(Settings):
    """A whole experiment."""

    name: Annotated[str, Field(pattern=NAME, max_length=100, description=NAME_WORDS)]  # default: the file's stem
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    task: Literal["gan", "aae", "history"] = "gan"  # the others have specs of their own, spec/aae.py, spec/history.py
    plugins: tuple[str, ...] = ()  # ./file.py or installed module that registers more components
    ignore: tuple[str, ...] = ()  # names of rules to silence: warnings only
    data: Data
    generator: Annotated[GeneratorSettings, Component("generator")]
    discriminator: Annotated[DiscriminatorSettings, Component("discriminator")]
    latent: Latent = Field(default_factory=Latent)  # factories: their defaults need the catalogs, which load later
    objective: Objective = Field(default_factory=Objective)
    optimizers: Optimizers = Field(default_factory=Optimizers)
    training: Training
    replay: Replay | None = None  # null: only the fakes of this step
    output: Output = Output()

    @property
    def batches_per_step(self) -> int:
        """One for each discriminator update."""
        return self.training.discriminator_steps

    @property
    def nets(self) -> dict[str, NetSettings]:
        """By role."""
        return {"generator": self.generator, "discriminator": self.discriminator}

    @property
    def uses_labels(self) -> bool:
        """Whether either net reads labels."""
        return any(net.uses_labels() for net in self.nets.values())


def to_tree(spec: Settings) -> dict[str, Any]:
    """The resolved spec as plain mappings, lists and scalars, every default written out."""
    return spec.model_dump(mode="json")
