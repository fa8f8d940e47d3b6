"""`manifest.json` of a checkpoint: what it is, what sampling needs to know of the data, and a proof of each file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from gantrain.data.table import Table
from gantrain.errors import RunError
from gantrain.interfaces import Range, Source
from gantrain.rundir.files import os_errors_explained
from gantrain.version import VERSION

MANIFEST = "manifest.json"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FileFacts(_Part):
    """Size and digest of one file."""

    bytes: int
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


class Manifest(_Part):
    """The whole manifest. It is written with a digest of itself."""

    format: Literal[1] = 1
    kind: Literal["training"] = "training"
    gantrain: str = VERSION
    step: int
    data: DataFacts
    files: dict[str, FileFacts]

    def to_json(self) -> str:
        """Text of the file."""
        tree = self._tree()
        return json.dumps({**tree, "sha256": _digest(tree)}, indent=2) + "\n"

    @classmethod
    def load(cls, path: Path) -> Manifest:
        """Read and prove a manifest. Raises RunError that names the file."""
        with os_errors_explained("read", path):
            text = path.read_bytes()
        try:
            tree: Any = json.loads(text)
            proof = tree.pop("sha256")
            manifest = cls.model_validate(tree)
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise RunError(f"{path} is damaged or of another gantrain version: {_first(error)}") from error
        if proof != _digest(manifest._tree()):
            raise RunError(f"{path} is damaged: its contents changed after it was written")
        return manifest

    def _tree(self) -> dict[str, Any]:
        """Without the table where there is none: most data is not one."""
        tree = self.model_dump(mode="json")
        if self.data.table is None:
            del tree["data"]["table"]
        return tree


def _digest(tree: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        detail = error.errors()[0]
        return f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}"
    return str(error) or type(error).__name__
