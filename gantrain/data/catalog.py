"""Sources: settings, names, and the facts known without decoding (free of TensorFlow)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import Field, model_validator

from gantrain.data import file_settings
from gantrain.data.setting_types import Colour, Positive, Side, check_value_range
from gantrain.interfaces import Range, SourceFacts, SourceSettings
from gantrain.registry import register

MORE_SOURCES = file_settings  # they register themselves when this is imported

FASHION_CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
FASHION_LENGTHS = {"train": 4000, "test": 1000}
DIGITS_LENGTH = 1797


@register("source", "fashion_sample", build="gantrain.data.packaged:fashion_sample")
class FashionSample(SourceSettings):
    """5,000 Fashion-MNIST pictures, 28x28 gray, 10 classes, in the package."""

    split: Literal["train", "test"] = "train"  # train: 400 per class | test: 100 per class, from the original test files

    def peek(self, base_dir: Path) -> SourceFacts:  # noqa: ARG002
        """Known figures of the packaged file."""
        return SourceFacts((28, 28, 1), FASHION_LENGTHS[self.split], len(FASHION_CLASSES), bounded=True)


@register("source", "digits", build="gantrain.data.packaged:digits")
class Digits(SourceSettings):
    """1,797 handwritten digits, 8x8 gray, 10 classes, in the package."""

    def peek(self, base_dir: Path) -> SourceFacts:  # noqa: ARG002
        """Known figures of the packaged file."""
        return SourceFacts((8, 8, 1), DIGITS_LENGTH, 10, bounded=True)


@register("source", "image_folder", build="gantrain.data.image_folder:build")
class ImageFolder(SourceSettings):
    """Pictures of a folder and its subfolders (PNG, JPEG, WebP, BMP, GIF, TIFF), brought to one size."""

    path: str  # folder, relative to the config file
    height: Side  # pixels, after crop and resize
    width: Side
    channels: Literal[1, 3, 4] = 3  # 1: gray | 3: RGB | 4: RGBA
    framing: Literal["crop", "pad", "stretch"] = (
        "crop"  # crop: centre of the wanted aspect | pad: with background | stretch: distort
    )
    alpha: Literal["composite", "keep", "error"] = (
        "composite"  # composite: over the background | keep: channels 4 | error: refuse
    )
    background: Colour = "white"  # white | black | gray | #rrggbb
    value_range: Range | None = None  # of 16-bit and float pictures: what becomes 0 and 255; null: 16-bit in full, float refused
    on_bad_file: Literal["error", "skip"] = "error"  # skip: unreadable pictures are left out, and counted in run.json
    labels: str | None = None  # folders: the top-level folder is the class | a CSV or JSON file of names and labels | null

    @model_validator(mode="before")
    @classmethod
    def _four_channels_keep_alpha(cls, tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        given = cast("dict[str, Any]", tree)
        return {"alpha": "keep", **given} if given.get("channels") == 4 else given

    @model_validator(mode="after")
    def _consistent(self) -> ImageFolder:
        if (self.channels == 4) != (self.alpha == "keep"):
            raise ValueError(
                f"channels: {self.channels} and alpha: {self.alpha} contradict each other; channels: 4 goes with alpha: keep"
            )
        check_value_range(self.value_range)
        return self

    def peek(self, base_dir: Path) -> SourceFacts:
        """Counts file names; stops at 50,000 entries or after 0.2 s and says so. Uses an earlier scan where it is still valid."""
        from gantrain.data import folder_peek  # needs numpy: 0.1 s that other sources do not pay

        return folder_peek.facts(self, base_dir)


@register("source", "arrays", build="gantrain.data.arrays:build")
class Arrays(SourceSettings):
    """One .npy or .npz file of pictures [N,H,W] or [N,H,W,C] or vectors [N,D]."""

    path: str  # .npy or .npz, relative to the config file
    key: str | None = None  # array inside the npz; null: the only one besides those named below
    labels: str | None = None  # .npy of class numbers [N], from 0
    labels_key: str | None = None  # or: class numbers inside the same npz
    targets_key: str | None = None  # task history: targets [N] or [N,T] inside the same npz
    sequence_key: str | None = None  # task history: [N] inside the same npz, a number or text that names each example's sequence
    value_range: Range | None = None  # lowest and highest value; needed for float pictures, uint8 defaults to [0, 255]

    @model_validator(mode="after")
    def _consistent(self) -> Arrays:
        if self.labels is not None and self.labels_key is not None:
            raise ValueError("labels and labels_key are both given; keep one")
        if self.sequence_key is not None and self.targets_key is None:
            raise ValueError("sequence_key goes with targets_key, which is missing")
        check_value_range(self.value_range)
        return self

    def peek(self, base_dir: Path) -> SourceFacts:
        """Reads the file's header; of the data only the labels."""
        from gantrain.data import headers  # needs numpy: 0.1 s that other sources do not pay

        return headers.facts(headers.Places.of(self, base_dir), self.value_range)


@register("source", "gaussian_mixture", build="gantrain.data.gaussian_mixture:build")
class GaussianMixture(SourceSettings):
    """Points in the plane around the modes of a ring or a grid: instant, and the truth is known."""

    layout: Literal["ring", "grid"] = "ring"
    modes: Annotated[int, Field(ge=1, le=10000)] = 8  # a square number for a grid; 25 there by default
    radius: Positive = 2.0  # of the ring
    spacing: Positive = 2.0  # between neighbours of the grid
    std: Positive = 0.02  # of each mode, in both directions; 0.05 for a grid by default
    size: Annotated[int, Field(ge=1, le=10_000_000)] = 10000  # points
    imbalance: Annotated[float, Field(ge=1, le=10_000)] = (
        1.0  # share of the commonest mode / share of the rarest; geometric between
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0  # of the points, apart from the seed of the experiment

    @model_validator(mode="before")
    @classmethod
    def _grid_defaults(cls, tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        given = cast("dict[str, Any]", tree)
        return {"modes": 25, "std": 0.05, **given} if given.get("layout") == "grid" else given

    @model_validator(mode="after")
    def _square(self) -> GaussianMixture:
        if self.layout == "grid" and math.isqrt(self.modes) ** 2 != self.modes:
            raise ValueError(f"a grid needs a square number of modes such as 9, 16 or 25, not {self.modes}")
        return self

    def peek(self, base_dir: Path) -> SourceFacts:  # noqa: ARG002
        """Follows from the settings."""
        return SourceFacts((2,), self.size, self.modes, bounded=False)


@register("source", "window_teacher", build="gantrain.data.window_teacher:build")
class WindowTeacher(SourceSettings):
    """Vectors and targets for task history: norms of the last outputs of a hidden network."""

    inputs: Annotated[int, Field(ge=1, le=10_000)] = 32  # numbers of an example
    outputs: Annotated[int, Field(ge=1, le=10_000)] = 32  # of the hidden network
    length: Annotated[int, Field(ge=1, le=10_000)] = 4  # outputs that a target looks at
    size: Annotated[int, Field(ge=1, le=1_000_000)] = 1000  # examples
    sequences: Annotated[int, Field(ge=1)] = 1  # equal parts that know nothing of each other
    memory: Annotated[float, Field(ge=0, lt=1)] = 0.9  # correlation of an example with the one before it
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0  # of the data, apart from the seed of the experiment

    @model_validator(mode="after")
    def _enough(self) -> WindowTeacher:
        if self.sequences > self.size:
            raise ValueError(f"{self.sequences} sequences need at least as many examples; size is {self.size}")
        return self

    def peek(self, base_dir: Path) -> SourceFacts:  # noqa: ARG002
        """Follows from the settings."""
        longest = -(-self.size // self.sequences)
        return SourceFacts((self.inputs,), self.size, None, bounded=False, target_size=1, longest_sequence=longest)
