"""`manifest.json` of a checkpoint: what it is, what sampling needs to know of the data, and a proof of each file."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gantrain.data.table import Table
from gantrain.errors import RunError
from gantrain.interfaces import Range, Source
from gantrain.rundir.files import read_bounded
from gantrain.version import VERSION

MANIFEST = "manifest.json"
FORMAT = 1  # of the manifest and of the tensors' keys; raise it with a change of either, and add a reader of the former one
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")  # a file of the checkpoint's own directory, never a way out of it
_MAX_BYTES = 64_000_000
MOST_NUMBERS = 2**28  # of one example, such as a picture of 8192x8192 with 4 channels

# format -> function that gives a tree of the next format; a checkpoint of an older gantrain passes through all that follow
READERS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FileFacts(_Part):
    """Size and digest of one file."""

    bytes: Annotated[int, Field(ge=0)]
    sha256: str


class DataFacts(_Part):
    """What nets and samples need of the data, so that sampling never opens it."""

    shape: tuple[int, ...]  # of one example
    dtype: str  # of the values in the source: uint8 or float32
    source_range: Range | None  # of the values in the source, such as (0, 255)
    network_range: Range | None  # of the values the networks see
    class_names: tuple[str, ...] = ()
    fingerprint: str
    table: Table | None = None  # how the columns of a table became vectors, and the way back

    @classmethod
    def of(cls, source: Source, network_range: Range | None) -> DataFacts:
        """Of an opened source; `network_range` is `data.range`."""
        return cls(
            shape=tuple(source.shape),
            dtype=source.load(np.zeros(1, np.int64)).dtype.name,
            source_range=source.value_range,
            network_range=network_range,
            class_names=tuple(source.class_names),
            fingerprint=source.fingerprint(),
            table=getattr(source, "table", None),
        )


def check_shape(shape: tuple[int, ...]) -> None:
    """ValueError for examples that no net could be built for in any memory."""
    if min(shape, default=1) < 1 or math.prod(shape) > MOST_NUMBERS:
        raise ValueError(f"an example of shape {list(shape)} has more than {MOST_NUMBERS:,} numbers, or none")


class Manifest(_Part):
    """The whole manifest. It is written with a digest of itself."""

    format: Literal[1] = 1
    kind: Literal["training"] = "training"
    gantrain: str = VERSION
    step: int
    data: DataFacts
    files: dict[str, FileFacts]
    interim: bool = False  # of a gentle stop between two regular ones: it goes when the next one is written

    @field_validator("files")
    @classmethod
    def _check_names(cls, files: dict[str, FileFacts]) -> dict[str, FileFacts]:
        for name in files:
            if not _PLAIN_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is not the name of a file of a checkpoint")
        return files

    @field_validator("data")
    @classmethod
    def _check_data(cls, data: DataFacts) -> DataFacts:
        check_shape(data.shape)
        for low, high in filter(None, (data.source_range, data.network_range)):
            if not -math.inf < low < high < math.inf:
                raise ValueError(f"[{low}, {high}] is no range of values")
        return data

    def to_json(self) -> str:
        """Text of the file."""
        tree = self._tree()
        return json.dumps({**tree, "sha256": _digest(tree)}, indent=2) + "\n"

    @classmethod
    def load(cls, path: Path) -> Manifest:
        """Read and prove a manifest, of this format or an older one. Raises RunError that names the file."""
        text = read_bounded(path, _MAX_BYTES)
        try:
            tree: Any = json.loads(text)
            proof = tree.pop("sha256")
            _check_format(tree["format"], path)
            if proof != _digest(tree):
                raise RunError(f"{path} is damaged: its contents changed after it was written")
            return cls.model_validate(_of_this_format(tree))
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise RunError(f"{path} is damaged or of another gantrain version: {_first(error)}") from error

    def _tree(self) -> dict[str, Any]:
        """Without what is not there: most data is no table, most checkpoints are regular."""
        tree = self.model_dump(mode="json")
        if self.data.table is None:
            del tree["data"]["table"]
        if not self.interim:
            del tree["interim"]
        return tree


def _check_format(number: Any, path: Path) -> None:
    if isinstance(number, int) and number > FORMAT:
        raise RunError(
            f"{path} is damaged or of another gantrain version: format {number} is newer than {FORMAT}, "
            "which is the newest this version reads; update gantrain"
        )


def _of_this_format(tree: dict[str, Any]) -> dict[str, Any]:
    while tree["format"] in READERS:
        tree = READERS[tree["format"]](tree)
    return tree


def _digest(tree: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        detail = error.errors()[0]
        return f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}"
    return str(error) or type(error).__name__
