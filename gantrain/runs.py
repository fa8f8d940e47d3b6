"""Starting and continuing a run: which directory, whether the spec still fits, from which checkpoint, and how it ended."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from gantrain import checkpoint, stored
from gantrain.data.report import report_of
from gantrain.errors import DivergedError, GantrainError, InterruptedRun, RunError
from gantrain.experiment import Experiment
from gantrain.interfaces import Source
from gantrain.manifest import DataFacts
from gantrain.rundir.directory import RunDirectory
from gantrain.rundir.files import os_errors_explained, write_atomically
from gantrain.rundir.metrics import MetricsLog
from gantrain.rundir.record import RunRecord, Start, Status, Versions
from gantrain.spec.loading import load_text
from gantrain.spec.trees import diff_trees
from gantrain.version import VERSION

# Settings that may change when a run goes on: they do not change a number that is already written.
FREE = ("name", "ignore", "training.steps", "training.epochs", "training.steps_per_call", "output.")
MOVABLE = "data.source.path"  # may change while the data's fingerprint stays


def spec_hash(tree: Mapping[str, Any]) -> str:
    """Digest of the settings that determine a run's numbers."""
    kept = [(key, value) for key, _, value in diff_trees({}, tree) if _decides(key)]
    return hashlib.sha256(json.dumps(sorted(kept), sort_keys=True).encode()).hexdigest()[:16]


def _decides(key: str) -> bool:
    """Whether a setting decides numbers that may be written already."""
    return not key.startswith(FREE) and key != MOVABLE


def check_drift(run: RunDirectory, tree: Mapping[str, Any]) -> None:
    """Refuse another spec on an existing run, key by key. A run that has no spec yet is new.

    Raises RunError with the differences.
    """
    if not run.resolved_path.exists():
        return
    with os_errors_explained("read", run.resolved_path):
        text = run.resolved_path.read_text(encoding="utf-8")
    known = load_text(text, str(run.resolved_path)).tree
    differences = [item for item in diff_trees(known, tree) if _decides(item[0])]
    if differences:
        lines = "\n".join(f"  {key}: {_show(old)} there, {_show(new)} now" for key, old, new in differences)
        raise RunError(
            f"{run.path} was made by another spec:\n{lines}\n"
            "set these back, or start a new run (only training.steps, output.* and a moved data.source.path may change)"
        )


def check_data(run: RunDirectory, data: DataFacts) -> None:
    """Refuse other data on an existing run. Raises RunError."""
    if not run.run_json.exists():
        return
    known = RunRecord.load(run.run_json).data_fingerprint
    if known is not None and known != data.fingerprint:
        raise RunError(f"the data changed since {run.path} was started (its fingerprint differs); restore it, or start a new run")


def resume(run: RunDirectory, experiment: Experiment, warn: Callable[[str], None]) -> int | None:
    """Restore the newest good checkpoint and cut the metrics back to it; the step, or None if there is no checkpoint.

    Raises RunError if the checkpoint does not fit, or lies beyond the last step of the spec.
    """
    found = stored.latest_good(run.checkpoints, warn)
    if found is None:
        MetricsLog(run.metrics_path).cut_back(0)
        return None
    path, manifest = found
    if manifest.step > experiment.total_steps:
        raise RunError(f"{path} is at step {manifest.step}, the spec ends at {experiment.total_steps}; raise training.steps")
    checkpoint.restore(path, experiment.state)
    MetricsLog(run.metrics_path).cut_back(manifest.step)
    return manifest.step


@contextmanager
def recorded(run: RunDirectory, record: RunRecord, resumed_from: int | None) -> Iterator[None]:
    """Keep run.json: this start now, and how it ended when the block is left."""
    start = Start(time=_now(), pid=os.getpid(), host=socket.gethostname(), resumed_from_step=resumed_from, versions=versions())
    record = record.started(start)
    record.save(run.run_json)
    try:
        yield
    except BaseException as error:
        _try_save(record.ended(_status(error), _reason(error)), run)
        raise
    record.ended("finished", "all steps done").save(run.run_json)


def mark_finished(run: RunDirectory, record: RunRecord) -> None:
    """For a run that was killed between its last checkpoint and its last line of run.json. Raises RunError."""
    if record.status != "finished":
        record.ended("finished", "all steps done").save(run.run_json)


def load_record(run: RunDirectory, experiment: Experiment, tree: Mapping[str, Any], device: str) -> RunRecord:
    """The record of an existing run, or that of a new one."""
    if run.run_json.exists():
        changes = {
            "device": device,
            "data_fingerprint": experiment.data_facts.fingerprint,
            "skipped_files": _skipped(experiment.source),
        }
        return RunRecord.load(run.run_json).model_copy(update=changes)
    return RunRecord(
        name=experiment.spec.name,
        spec_hash=spec_hash(tree),
        versions=versions(),
        device=device,
        data_fingerprint=experiment.data_facts.fingerprint,
        skipped_files=_skipped(experiment.source),
    )


def _skipped(source: Source) -> int:
    report = report_of(source)
    return report.skipped if report else 0


def write_scan(run: RunDirectory, source: Source) -> None:
    """scan.json: everything that a look at the data found, for sources that look. Raises RunError."""
    report = report_of(source)
    if report is not None:
        tree = {"warnings": list(report.warnings), "skipped": report.skipped, **report.tree}
        write_atomically(run.scan_path, json.dumps(tree, indent=2, ensure_ascii=False, default=str) + "\n")


def versions() -> Versions:
    """Versions of what computes the numbers."""
    return Versions(
        gantrain=VERSION,
        tensorflow=tf.__version__,
        keras=keras.__version__,
        numpy=np.__version__,
        python=platform.python_version(),
    )


def write_specs(run: RunDirectory, text: str | None, resolved_yaml: str) -> None:
    """spec.yaml as the user wrote it (None keeps the one that is there), and spec.resolved.yaml."""
    if text is not None:
        write_atomically(run.spec_path, text)
    write_atomically(run.resolved_path, resolved_yaml)


def _try_save(record: RunRecord, run: RunDirectory) -> None:
    """The first error is the one to show: a full disk must not hide it behind a second one."""
    try:
        record.save(run.run_json)
    except RunError:
        return


def _status(error: BaseException) -> Status:
    if isinstance(error, DivergedError):
        return "diverged"
    return "interrupted" if isinstance(error, InterruptedRun | KeyboardInterrupt) else "failed"


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, GantrainError) else f"{type(error).__name__}: {error}"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _show(value: Any) -> str:
    return json.dumps(value, default=str)
