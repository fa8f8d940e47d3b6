"""What each component is: its settings, the facts it declares, and what its builder returns. A newcomer's one page.

Those of the tasks `aae` and `history` alone are in aae_interfaces.py and history_interfaces.py.

Nothing here imports TensorFlow: settings and facts are judged by `validate-config` before a net exists. Shapes are in brackets:
B batch, Z latent size, H height, W width, C channels (or classes, where said).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

if TYPE_CHECKING:  # the annotations of `Source` need it, `validate-config` does not: 0.1 s
    import numpy as np

Tensor: TypeAlias = Any  # a tf.Tensor; TensorFlow itself stays out of this floor
Range: TypeAlias = tuple[float, float]


class Settings(BaseModel):
    """Base of every settings class: frozen; unknown keys, NaN and infinity refused; a boolean is not a number."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, defer_build=True)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_boolean_numbers(cls, value: Any, info: ValidationInfo) -> Any:
        annotation = str(cls.model_fields[info.field_name or ""].annotation)
        wants_number = ("int" in annotation or "float" in annotation) and "bool" not in annotation
        items = cast("list[Any]", value) if isinstance(value, list | tuple) else [value]
        if wants_number and any(isinstance(item, bool) for item in items):
            raise ValueError("is a boolean, a number is wanted")
        return cast("Any", value)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_words_for_booleans(cls, value: Any, info: ValidationInfo) -> Any:
        annotation = str(cls.model_fields[info.field_name or ""].annotation)
        is_word = isinstance(value, int | str) and not isinstance(value, bool) and repr(value) not in annotation
        if "bool" in annotation and is_word:  # pydantic would read `no`, `off` and 0 as false
            raise ValueError("is not a boolean, true or false is wanted")
        return value


# ---------------------------------------------------------------- nets


@dataclass(frozen=True)
class NetContext:
    """What a net must fit: `shape` of one example ((H, W, C) or (D,)), and what surrounds it.

    `data_range` is what the networks see ([-1, 1], ...), None for unbounded vectors. `dtype` is a Keras dtype policy name;
    the last layer of every net is float32. `num_classes` is None for data without labels.
    """

    shape: tuple[int, ...]
    latent_size: int
    num_classes: int | None = None
    data_range: Range | None = (-1.0, 1.0)
    dtype: str = "float32"


class NetSettings(Settings):
    """Facts both nets declare; each is a pure function of the settings. A contract test compares them with the built net."""

    def norms(self) -> frozenset[str]:
        """Normalisations inside, of: batch_norm, layer_norm, group_norm, spectral_norm, pixel_norm."""
        return frozenset()

    def uses_labels(self) -> bool:
        """Whether the net reads labels."""
        return False

    def buildable(self, shape: tuple[int, ...]) -> str | None:  # noqa: ARG002  a net that builds anything need not look
        """None if the net can be built for examples of `shape`, else the reason and the sizes that work."""
        return None

    def twice_differentiable(self) -> bool:
        """Whether gradients of gradients are right (a gradient penalty needs them)."""
        return True


class GeneratorSettings(NetSettings):
    """Builder: (settings, NetContext) -> Keras model: (latents [B,Z], labels [B] or None, training) -> [B,*shape] float32."""

    def last_activation(self, data_range: Range | None) -> str:
        """Name of the last activation: tanh, sigmoid, linear, relu ... for data of this range."""
        raise NotImplementedError


class DiscriminatorSettings(NetSettings):
    """Builder: (settings, NetContext) -> Keras model: (x [B,*shape], labels [B] or None, training) -> DiscriminatorOutput."""

    def last_activation(self) -> str:
        """Name of the last activation; losses want logits, that is `linear`."""
        return "linear"


class DiscriminatorOutput(NamedTuple):
    """`logits` [B] float32; `class_logits` [B,C] float32 or None."""

    logits: Tensor
    class_logits: Tensor | None = None


class PriorSettings(Settings):
    """Law of the latents. Builder: (settings) -> function (count, size, key) -> latents [count,size] float32.

    `key` is an int64 tensor [2]; equal keys give equal latents (philox), on every device. A law by label takes one more
    argument: labels [count] int64.
    """

    def uses_labels(self) -> bool:
        """Whether the law depends on the label."""
        return False

    def fits(self, size: int) -> str | None:  # noqa: ARG002  most laws have any size
        """None if latents of `size` numbers can have this law, else the reason and what to write."""
        return None


# ---------------------------------------------------------------- objectives


class LossSettings(Settings):
    """Builder: (settings) -> Loss."""

    def generator_reads_real(self) -> bool:
        """Whether the generator's loss depends on the real logits (relativistic losses): costs one more discriminator forward."""
        return False

    def boundary(self) -> float | None:
        """The logit above which an example counts as real; None if only differences of logits have a meaning."""
        return 0.0

    def needs_constraint(self) -> bool:
        """Whether the loss is only meaningful with a Lipschitz constraint (Wasserstein)."""
        return False

    def is_saturating(self) -> bool:
        """Whether the generator's gradient vanishes against a strong discriminator (minimax)."""
        return False


@dataclass(frozen=True)
class Loss:
    """Two functions (real_logits [B], fake_logits [B]) -> [B], one loss per example; both get both logits."""

    discriminator: Callable[[Tensor, Tensor], Tensor]
    generator: Callable[[Tensor, Tensor], Tensor]


class PenaltySettings(Settings):
    """Builder: (settings) -> Penalty, called as penalty(PenaltyContext) -> [B], added to the discriminator's loss.

    A penalty with a state of its own has an attribute `variables`, name -> tf.Variable: what a checkpoint saves.
    """

    weight: float = 1.0  # factor of the mean over the batch
    every: Annotated[int, Field(ge=1)] = 1  # applied each n-th step, with n times the weight (lazy regularisation)

    def limits_slope(self) -> bool:
        """Whether it bounds the discriminator's slope, which losses such as Wasserstein need."""
        return False

    def needs_second_derivatives(self) -> bool:
        """Whether it differentiates the discriminator by its input, so that its own gradient is a second derivative."""
        return False

    def applicable(self, shape: tuple[int, ...]) -> str | None:  # noqa: ARG002  most take any shape
        """None if it can be computed for examples of `shape`, else the reason and what to do."""
        return None


@dataclass(frozen=True)
class PenaltyContext:
    """`critic` (x [B,*shape]) -> logits [B] in float32; `key` int64 [2] for random draws of this step.

    `fake_critic` is the critic with the labels of the fakes (None: as `critic`). `scale` is what sums of logits are multiplied
    with before they are differentiated, and gradients divided by, so that float16 does not lose small ones. `real_slope` and
    `fake_slope` () -> gradient of the logits of `real_output` and `fake_output` by their examples, [B,*shape] float32, without
    another forward; None where it must be computed by the critic.
    """

    critic: Callable[[Tensor], Tensor]
    real: Tensor
    fake: Tensor
    labels: Tensor | None
    real_output: DiscriminatorOutput
    fake_output: DiscriminatorOutput
    key: Tensor
    fake_critic: Callable[[Tensor], Tensor] | None = None
    scale: Tensor = 1.0
    part: Tensor = 0  # this is the part-th of `parts` equal micro-batches (over all replicas): random draws are made for all
    parts: int = 1
    real_slope: Callable[[], Tensor] | None = None
    fake_slope: Callable[[], Tensor] | None = None


class RegulariserSettings(Settings):
    """Builder: (settings) -> function (list of variables) -> scalar, added to the discriminator's loss."""

    weight: float = 1.0  # factor of the scalar


class ConstraintSettings(Settings):
    """Builder: (settings) -> function (list of variables) -> None, applied after each discriminator update."""

    def limits_slope(self) -> bool:
        """Whether it bounds the discriminator's slope, which losses such as Wasserstein need."""
        return False


# ---------------------------------------------------------------- optimizers


class ScheduleSettings(Settings):
    """A learning rate over time. Builder: (settings) -> function (images_seen, float32 scalar) -> rate, float32 scalar."""

    start: Annotated[float, Field(gt=0)]  # learning rate at the first image, or after the warm-up
    warmup_images: Annotated[float, Field(ge=0)] = 0.0  # over so many images the rate also rises linearly from zero


class OptimizerSettings(Settings):
    """Builder: (settings, {key: variable}) -> Optimizer."""

    learning_rate: float | ScheduleSettings


class Optimizer(Protocol):
    """Owns its slots. `apply` performs one update of all its variables, in the order of the dictionary it was built with."""

    variables: dict[str, Any]  # key -> tf.Variable: what a checkpoint saves

    def apply(self, gradients: list[Tensor], learning_rate: Tensor) -> None:
        """One update."""
        ...


# ---------------------------------------------------------------- data


@dataclass(frozen=True)
class SourceFacts:
    """What is known of a source without decoding it. None means: not known statically."""

    shape: tuple[int, ...] | None
    length: int | None
    num_classes: int | None = None  # None also: no labels
    notes: tuple[str, ...] = field(default=())  # such as "counted 50,000 names and stopped"
    bounded: bool | None = None  # whether values have a known range (pictures do, measured vectors do not)
    class_names: tuple[str, ...] = ()  # where they are known
    target_size: int | None = None  # numbers of the target that belongs to each example; None also: no targets
    longest_sequence: int | None = None  # most examples in a row that are of one sequence


class SourceSettings(Settings):
    """Builder: (settings, base_dir) -> Source. Relative paths start at `base_dir`, the config file's folder."""

    def peek(self, base_dir: Path) -> SourceFacts:
        """Facts without decoding: names and headers only, 0.2 s at most. Raises DataError, with a message for the user."""
        raise NotImplementedError


class Source(Protocol):
    """Examples by index. `load` returns [n,*shape], uint8 or float32, always the same values for the same index.

    A source may also have `report` (data/report.py: what was found when the data was opened; `fit` shows and keeps it), `table`
    (data/table.py: the way back from vectors to columns), and `pairing` (data/pairing.py: targets and sequences).
    """

    shape: tuple[int, ...]  # (H, W, C) or (D,)
    length: int
    value_range: Range | None  # of what `load` returns: (0, 255) for uint8 pictures; None for unbounded vectors
    labels: np.ndarray | None  # [length] int64, or None
    class_names: tuple[str, ...]  # empty without labels
    in_memory: np.ndarray | None  # [length,*shape] if the whole set is a small array already (then `load` is indexing), else None

    def load(self, indices: np.ndarray) -> np.ndarray:
        """Examples at `indices` [n] int64. Raises DataError that names the file."""
        ...

    def fingerprint(self) -> str:
        """Hex digest over names, sizes and labels (contents where they are in memory); changes when the data changes."""
        ...
