"""What may change when a run goes on, and what may not: spec, data, versions, device.

| change | class | what would break |
|---|---|---|
| training.steps, output.*, name, a moved path of the same data | safe | nothing that is written already |
| python, host | safe | nothing; run.json notes it |
| gantrain, tensorflow, keras, numpy; device | warned | the numbers from here on may differ from those of a run in one go |
| any other setting (seed, nets, precision, ...) | refused | the state does not fit, or the numbers belong to two runs |
| data (fingerprint) | refused | the order of examples and what the networks learned from |
| format of a checkpoint newer than this gantrain | refused | it cannot be read |
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gantrain.errors import RunError
from gantrain.manifest import DataFacts, Manifest
from gantrain.rundir.files import read_bounded
from gantrain.rundir.record import RunRecord, Versions
from gantrain.spec.loading import MAX_BYTES, load_text
from gantrain.spec.model import to_tree
from gantrain.spec.plain import as_list, as_mapping
from gantrain.spec.tasks import spec_class
from gantrain.spec.trees import diff_trees
from gantrain.stored import SPEC

# Settings that may change when a run goes on: they do not change a number that is already written.
FREE = ("name", "ignore", "training.steps", "training.epochs", "training.steps_per_call", "output.")
MOVABLE = "data.source.path"  # may change while the data's fingerprint stays
SAFE_VERSIONS = ("python",)


def spec_hash(tree: Mapping[str, Any]) -> str:
    """Digest of the settings that determine a run's numbers."""
    kept = [(key, value) for key, _, value in diff_trees({}, tree) if _decides(key)]
    return hashlib.sha256(json.dumps(sorted(kept), sort_keys=True).encode()).hexdigest()[:16]


def _decides(key: str) -> bool:
    """Whether a setting decides numbers that may be written already."""
    return not key.startswith(FREE) and key != MOVABLE


def check_spec(path: Path, tree: Mapping[str, Any], what: Path) -> None:
    """Refuse another spec than that of the file `path`, key by key. `what` (run or checkpoint) was made by it.

    Raises RunError with the differences.
    """
    known = read_tree(path)
    differences = [item for item in diff_trees(_filled(known), _same_places(tree)) if _decides(item[0])]
    if differences:
        lines = "\n".join(f"  {key}: {_show(old)} there, {_show(new)} now" for key, old, new in differences)
        raise RunError(
            f"{what} was made by another spec:\n{lines}\n"
            "set these back, or start a new run (only training.steps, output.* and a moved data.source.path may change)"
        )


def read_tree(path: Path) -> Any:
    """The tree of a spec that a run wrote. Raises RunError that names the file if it is damaged."""
    try:
        text = read_bounded(path, MAX_BYTES).decode()
    except UnicodeDecodeError as error:
        raise RunError(f"{path} is damaged ({error}); restore it from a copy") from None
    loaded = load_text(text, str(path))
    if loaded.problems:
        raise RunError(f"{path} is damaged ({loaded.problems[0]}); restore it from a copy")
    return loaded.tree


def check_checkpoint(path: Path, manifest: Manifest, tree: Mapping[str, Any], data: DataFacts) -> None:
    """Refuse a checkpoint of another spec or of other data. Raises RunError."""
    check_spec(path / SPEC, tree, path)
    if manifest.data.fingerprint != data.fingerprint:
        raise RunError(f"{path} was made from other data (its fingerprint differs); restore the data, or start a new run")


def check_data(record: RunRecord | None, data: DataFacts, run: Path) -> None:
    """Refuse other data on an existing run. Raises RunError."""
    known = record.data_fingerprint if record else None
    if known is not None and known != data.fingerprint:
        raise RunError(
            f"the data changed since {run} was started (its fingerprint of names, sizes and labels differs): examples would come "
            "in another order, and the numbers before and after would belong to two runs; restore the data, or start a new run"
        )


def changes_of_versions(record: RunRecord | None, versions: Versions, device: str) -> list[str]:
    """Warnings about what computes the numbers since the latest start."""
    if record is None:
        return []
    before, now = record.versions.model_dump(), versions.model_dump()
    changed = [f"{name} {before[name]} -> {now[name]}" for name in now if name not in SAFE_VERSIONS and before[name] != now[name]]
    if record.device != device:
        changed.append(f"device {record.device} -> {device}")
    if not changed:
        return []
    return [
        f"since the latest start of this run these changed: {', '.join(changed)}. The state is read exactly, but from here on "
        "the numbers may differ from those of a run in one go"
    ]


def _filled(tree: Any) -> Any:
    """With the defaults of settings that are newer than the file; as it is where that cannot be told."""
    try:
        return _same_places(to_tree(spec_class(tree).model_validate(tree)))
    except ValidationError:
        return _same_places(tree)


def _same_places(tree: Any) -> Any:
    """Kept plugins have one path in the run's spec and another one in a checkpoint's."""
    mapping = as_mapping(tree)
    entries = as_list(mapping.get("plugins")) if mapping is not None else None
    if mapping is None or entries is None:
        return tree
    return {**mapping, "plugins": [str(entry).replace("../../plugins/", "./plugins/") for entry in entries]}


def _show(value: Any) -> str:
    return json.dumps(value, default=str)
