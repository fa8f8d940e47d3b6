"""From the features of one record to an example and its label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gantrain.data.decode import decode_content
from gantrain.data.example_message import BadMessage, Feature, features
from gantrain.data.file_settings import TfRecord as Settings
from gantrain.data.framing import Frame
from gantrain.data.records import Place
from gantrain.data.words import counted
from gantrain.errors import DataError
from gantrain.interfaces import Range


@dataclass(frozen=True)
class Reader:
    """How the features of a record become an example and a label."""

    feature: str
    label: str | None
    encoding: str
    dtype: np.dtype
    shape: tuple[int, ...]
    value_range: Range | None

    @staticmethod
    def of(settings: Settings) -> Reader:
        """The reader that settings ask for."""
        value_range = settings.value_range or ((0.0, 255.0) if gives_bytes(settings) else None)
        if value_range is None and len(settings.shape) == 3:
            raise DataError("float pictures have no natural range; declare data.source.value_range, such as [0, 1]")
        dtype = np.dtype("<f4" if settings.dtype == "float32" else "u1")
        return Reader(settings.feature, settings.label, settings.encoding, dtype, tuple(settings.shape), value_range)

    def example(self, place: Place, number: int) -> np.ndarray:
        """One example [*shape], uint8 or float32. Raises DataError that names file and record."""
        where = f"{place.path}: record {number}"
        return self.value(read_features(place, where), where)

    def value(self, found: dict[str, Feature], where: str) -> np.ndarray:
        """The example in the features of a record."""
        feature = _one(found, self.feature, where)
        if self.encoding == "numbers":
            if not isinstance(feature, np.ndarray):
                raise DataError(f"{where}: feature {self.feature!r} holds bytes; write encoding: picture, or raw")
            return self._shaped(feature.astype(np.float32), where)
        if isinstance(feature, np.ndarray) or len(feature) != 1:
            raise DataError(f"{where}: feature {self.feature!r} is no single bytes value; write encoding: numbers for numbers")
        if self.encoding == "picture":
            height, width, channels = self.shape
            frame = Frame(height, width, channels, (255, 255, 255), alpha="keep" if channels == 4 else "composite")
            return decode_content(feature[0], f"{where}, feature {self.feature!r}", frame)
        if len(feature[0]) % self.dtype.itemsize:
            raise DataError(f"{where}: feature {self.feature!r} holds {len(feature[0])} bytes, no whole number of {self.dtype}")
        return self._shaped(np.frombuffer(feature[0], self.dtype), where)

    def _shaped(self, values: np.ndarray, where: str) -> np.ndarray:
        if values.size != int(np.prod(self.shape)):
            raise DataError(
                f"{where}: feature {self.feature!r} holds {counted(values.size, 'value')}, shape {list(self.shape)} needs others"
            )
        if values.dtype.kind == "f":
            _check(values, self.value_range, where)
        return values.reshape(self.shape).astype(np.uint8 if values.dtype == np.uint8 else np.float32)

    def text_label(self, found: dict[str, Feature], where: str) -> str:
        """The class as text."""
        assert self.label is not None
        feature = _one(found, self.label, where)
        if len(feature) != 1:
            raise DataError(
                f"{where}: label {self.label!r} has {len(feature)} values (multi-hot?); one class per example is wanted"
            )
        value: Any = feature[0]
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if float(value) != int(value):
            raise DataError(f"{where}: label {self.label!r} is {value}; a whole number or text is wanted")
        return str(int(value))


def gives_bytes(settings: Settings) -> bool:
    """Whether examples are uint8."""
    return settings.encoding == "picture" or (settings.encoding == "raw" and settings.dtype == "uint8")


def read_features(place: Place, where: str) -> dict[str, Feature]:
    """Features of a record. Raises DataError that names it."""
    try:
        return features(place.read())
    except (BadMessage, ValueError, TypeError) as error:
        raise DataError(f"{where} is no tf.train.Example ({error}); write Examples with named features") from error


def _one(found: dict[str, Feature], name: str, where: str) -> Feature:
    if name not in found:
        raise DataError(f"{where} has no feature {name!r}; it has: {', '.join(sorted(found)) or 'none'}")
    return found[name]


def _check(values: np.ndarray, value_range: Range | None, where: str) -> None:
    if not np.isfinite(values).all():
        raise DataError(f"{where} holds values that are not finite (NaN or infinite); clean the data")
    if value_range is None:
        return
    outside = float(((values < np.float32(value_range[0])) | (values > np.float32(value_range[1]))).mean())
    if outside:
        declared = f"value_range [{value_range[0]:g}, {value_range[1]:g}]"
        raise DataError(
            f"{where}: {100 * outside:.3g} % of its values lie outside {declared}; they go from {values.min():g} to "
            f"{values.max():g}. Declare the true range"
        )
