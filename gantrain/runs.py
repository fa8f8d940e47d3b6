"""Starting and continuing a run: which directory, whether the spec still fits, from which checkpoint, and how it ended."""

from __future__ import annotations

import json
import os
import platform
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from gantrain import checkpoint, drift, stored
from gantrain.data.report import report_of
from gantrain.errors import DivergedError, GantrainError, InterruptedRun, RunError
from gantrain.experiment import AnyExperiment
from gantrain.inspection import changed_files, missing_checkpoint
from gantrain.interfaces import Source
from gantrain.manifest import Manifest
from gantrain.rundir.directory import RunDirectory
from gantrain.rundir.files import set_aside, write_atomically
from gantrain.rundir.metrics import MetricsLog
from gantrain.rundir.proofs import Proofs
from gantrain.rundir.record import RunRecord, Start, Status, Versions
from gantrain.version import VERSION


def look_over(run: RunDirectory, warn: Callable[[str], None]) -> RunRecord | None:
    """What is known of an existing run, before it goes on; None for a new one or one whose run.json is damaged.

    Each damaged file is told to `warn`; run.json and spec.resolved.yaml, which will be written anew, are set aside first, because
    nothing is deleted: the checkpoints hold what a resume needs. Raises RunError.
    """
    if not run.run_json.exists() and not stored.all_checkpoints(run.checkpoints):
        return None
    for path, problem in _damages(run).items():
        aside = f"; set aside as {set_aside(path).name}" if path in (run.run_json, run.resolved_path) and path.exists() else ""
        warn(f"{problem}{aside}; the run goes on from its checkpoints")
    return RunRecord.load(run.run_json) if run.run_json.exists() else None


def _damages(run: RunDirectory) -> dict[Path, str]:
    found = changed_files(run)
    try:
        RunRecord.load(run.run_json)
    except RunError as error:
        found[run.run_json] = str(error)
    missing = missing_checkpoint(run)
    return found | ({missing: f"{missing} is missing: it was deleted, or a crash came before it was whole"} if missing else {})


def check_spec(run: RunDirectory, tree: Mapping[str, Any]) -> None:
    """Refuse another spec on an existing run, key by key. A run that has no spec yet is new.

    Raises RunError with the differences.
    """
    if run.resolved_path.exists():
        drift.check_spec(run.resolved_path, tree, run.path)


def resume(run: RunDirectory, experiment: AnyExperiment, tree: Mapping[str, Any], warn: Callable[[str], None]) -> int | None:
    """Restore the newest good checkpoint and cut the metrics back to it; the step, or None if there is no checkpoint.

    Raises RunError if the checkpoint does not fit, or lies beyond the last step of the spec.
    """

    def belongs(path: Path, manifest: Manifest) -> None:
        drift.check_checkpoint(path, manifest, tree, experiment.data_facts)

    found = stored.latest_good(run.checkpoints, warn, belongs)
    proofs = Proofs(run.path)
    proofs.start_anew()
    if found is None:
        _refuse_lost_checkpoints(run)
        return None
    path, manifest = found
    if manifest.step > experiment.total_steps:
        raise RunError(f"{path} is at step {manifest.step}, the spec ends at {experiment.total_steps}; raise training.steps")
    checkpoint.restore(path, experiment.state)
    found_step = int(experiment.progress.step.numpy())
    if found_step != manifest.step:
        raise RunError(f"{path} is damaged: its tensors are those of step {found_step}; restore it from a copy")
    cut = proofs.cut_back(manifest.step)
    if cut.damaged > 1:  # one: torn by the crash
        warn(f"{run.metrics_path} is damaged: {cut.damaged} lines that could not be read were left out")
    return manifest.step


def _refuse_lost_checkpoints(run: RunDirectory) -> None:
    """A run starts with a checkpoint: metrics without one mean that it was lost, and starting anew would lose them too."""
    lines = len(MetricsLog(run.metrics_path).read())
    if lines:
        raise RunError(
            f"{run.checkpoints} holds no checkpoint, but {run.metrics_path} has {lines} lines: restore one from a copy, "
            "or start a new run"
        )


@contextmanager
def recorded(run: RunDirectory, record: RunRecord, resumed_from: int | None) -> Iterator[None]:
    """Keep run.json: this start now, and how it ended when the block is left."""
    record = record.started(
        Start(
            time=_now(),
            pid=os.getpid(),
            host=socket.gethostname(),
            resumed_from_step=resumed_from,
            versions=versions(),
            device=record.device,
        )
    )
    _save(record, run)
    try:
        yield
    except BaseException as error:
        _try_save(record.ended(_status(error), _reason(error)), run)
        raise
    _save(record.ended("finished", "all steps done"), run)


def mark_finished(run: RunDirectory, record: RunRecord) -> None:
    """For a run that was killed between its last checkpoint and its last line of run.json. Raises RunError."""
    _save(record.ended("finished", "all steps done"), run)


def new_record(experiment: AnyExperiment, tree: Mapping[str, Any], device: str, known: RunRecord | None) -> RunRecord:
    """The record of a run that starts, or goes on from what is known of it."""
    changes = {
        "device": device,
        "data_fingerprint": experiment.data_facts.fingerprint,
        "skipped_files": _skipped(experiment.source),
    }
    if known is not None:
        return known.model_copy(update=changes)
    return RunRecord(name=experiment.spec.name, spec_hash=drift.spec_hash(tree), versions=versions(), **changes)


def _skipped(source: Source) -> int:
    report = report_of(source)
    return report.skipped if report else 0


def write_scan(run: RunDirectory, source: Source) -> None:
    """scan.json: everything that a look at the data found, for sources that look. Raises RunError."""
    report = report_of(source)
    if report is not None:
        tree = {"warnings": list(report.warnings), "skipped": report.skipped, **report.tree}
        _write(run.scan_path, json.dumps(tree, indent=2, ensure_ascii=False, default=str) + "\n")


def _write(path: Path, text: str) -> None:
    Proofs(path.parent).note({path.name: text})
    write_atomically(path, text)


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
        _write(run.spec_path, text)
    _write(run.resolved_path, resolved_yaml)


def _save(record: RunRecord, run: RunDirectory) -> None:
    Proofs(run.path).note({run.run_json.name: record.text()})
    record.save(run.run_json)


def _try_save(record: RunRecord, run: RunDirectory) -> None:
    """The first error is the one to show: a full disk must not hide it behind a second one."""
    try:
        _save(record, run)
    except RunError:
        return


def _status(error: BaseException) -> Status:
    if isinstance(error, DivergedError):
        return "diverged"
    return "interrupted" if isinstance(error, InterruptedRun | KeyboardInterrupt) else "failed"


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, GantrainError | InterruptedRun) else f"{type(error).__name__}: {error}"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
