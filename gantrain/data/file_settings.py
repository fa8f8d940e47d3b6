"""Settings of the sources that read one kind of file; part of the catalog (free of TensorFlow)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from gantrain.data.setting_types import Side, check_value_range
from gantrain.interfaces import Range, SourceFacts, SourceSettings
from gantrain.registry import register


@register("source", "idx", build="gantrain.data.idx:build")
class Idx(SourceSettings):
    """MNIST-style idx files, plain or gzip: pictures [N,H,W] or vectors [N,D], and their labels."""

    path: str  # of the pictures, such as train-images-idx3-ubyte.gz; relative to the config file
    labels: str | None = None  # such as train-labels-idx1-ubyte.gz
    value_range: Range | None = None  # lowest and highest value; needed unless values are bytes

    @model_validator(mode="after")
    def _consistent(self) -> Idx:
        check_value_range(self.value_range)
        return self

    def peek(self, base_dir: Path) -> SourceFacts:
        """Reads the file's header; of the data only the labels."""
        from gantrain.data import idx

        return idx.facts(self, base_dir)


@register("source", "csv", build="gantrain.data.csv_table:build")
class Csv(SourceSettings):
    """A table in a CSV file with a header line: one vector per row; samples come back as CSV."""

    path: str  # relative to the config file
    columns: tuple[str, ...] | None = None  # in this order; null: all but `label`, `targets` and `sequence`
    categories: tuple[str, ...] = ()  # columns of names, each becomes one 0/1 number per name
    label: str | None = None  # column of class names, for conditional nets; not part of the vector
    scale: Literal["standardise", "minmax"] | None = "standardise"  # mean 0 and std 1 | 0..1 | null: numbers as they are
    targets: tuple[str, ...] = ()  # task history: columns of numbers, taken as they are; not part of the vector
    sequence: str | None = None  # task history: column that names each row's sequence; not part of the vector

    @model_validator(mode="after")
    def _has_targets(self) -> Csv:
        if self.sequence is not None and not self.targets:
            raise ValueError("sequence goes with targets, which are missing")
        return self

    def peek(self, base_dir: Path) -> SourceFacts:
        """Reads small files in full, of larger ones the first lines."""
        from gantrain.data import csv_table

        return csv_table.facts(self, base_dir)


@register("source", "keras_cache", build="gantrain.data.keras_cache:build")
class KerasCache(SourceSettings):
    """A set that keras.datasets downloaded before, in ~/.keras/datasets; never fetched or deleted."""

    dataset: Literal["mnist", "fashion_mnist", "cifar10", "cifar100"]
    split: Literal["train", "test"] = "train"
    path: str | None = None  # folder that holds the files; null: $KERAS_HOME/datasets or ~/.keras/datasets

    def peek(self, base_dir: Path) -> SourceFacts:
        """Known figures, if the files are there."""
        from gantrain.data import keras_cache

        return keras_cache.facts(self, base_dir)


@register("source", "tfrecord", build="gantrain.data.tfrecord:build")
class TfRecord(SourceSettings):
    """TFRecord files of tf.train.Example: pictures or vectors, in any order through an index of offsets."""

    path: str  # a file, or a folder of *.tfrecord files; relative to the config file
    feature: str = "image"  # name of the feature that holds the example
    shape: Annotated[tuple[Side, ...], Field(min_length=1, max_length=3)]  # of one example: [D] or [H, W, C]
    encoding: Literal["picture", "raw", "numbers"] = "picture"  # PNG, JPEG ... | bytes of dtype | float_list or int64_list
    dtype: Literal["uint8", "float32"] = "uint8"  # of raw bytes, little-endian
    label: str | None = None  # name of an int64 or text feature
    value_range: Range | None = None  # lowest and highest value; needed for float pictures, uint8 defaults to [0, 255]

    @model_validator(mode="after")
    def _consistent(self) -> TfRecord:
        check_value_range(self.value_range)
        if len(self.shape) == 2:
            raise ValueError("shape is [D] for vectors or [H, W, C] for pictures")
        if self.encoding == "picture" and (len(self.shape) != 3 or self.shape[2] not in (1, 3, 4)):
            raise ValueError("encoded pictures need shape [H, W, C] with C one of 1, 3, 4")
        return self

    def peek(self, base_dir: Path) -> SourceFacts:
        """Counts the records of small files."""
        from gantrain.data import tfrecord

        return tfrecord.facts(self, base_dir)


@register("source", "packed", build="gantrain.data.packed:build")
class Packed(SourceSettings):
    """A file that `gantrain pack` wrote: decoded once, memory-mapped, ready at once."""

    path: str  # relative to the config file

    def peek(self, base_dir: Path) -> SourceFacts:
        """Reads the file's header."""
        from gantrain.data import packed

        return packed.facts(self, base_dir)
