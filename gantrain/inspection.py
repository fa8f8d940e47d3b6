"""Looks a run directory over, file by file, without TensorFlow and without changing a byte of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from gantrain.drift import check_spec, read_tree
from gantrain.errors import GantrainError, RunError
from gantrain.rundir.directory import RunDirectory
from gantrain.rundir.files import is_temporary, os_errors_explained, read_bounded
from gantrain.rundir.links import symbolic_links
from gantrain.rundir.metrics import MetricsLog
from gantrain.rundir.proofs import METRICS, Proofs
from gantrain.rundir.record import RunRecord
from gantrain.stored import SPEC, all_checkpoints, verify

MAX_JSON_BYTES = 256_000_000
_ASIDE = re.compile(r"(replaced|damaged)-\d+-.+")
_KEPT = re.compile(r"([0-9a-f]{16})-.+")


class Finding(NamedTuple):
    """About one file or directory. `problem`: in one line; None: it is whole. `note`: it is no damage, but worth a line."""

    path: Path
    problem: str | None = None
    note: str | None = None


def inspect(run: RunDirectory) -> list[Finding]:
    """Findings about everything in a run directory, in the order of the layout."""
    proven = changed_files(run)
    links = [Finding(path, problem) for path, problem in symbolic_links(run.places()).items()]
    found = [*links, *_texts(run, proven), *_plugins(run), *_others(run, proven), *_checkpoints(run), *_leftovers(run)]
    known = {finding.path for finding in found}
    return [*found, *(Finding(path, problem) for path, problem in proven.items() if path not in known)]


def changed_files(run: RunDirectory) -> dict[Path, str]:
    """Path -> what is wrong with it, for the files outside the checkpoints that are not as they were written."""
    proofs = Proofs(run.path)
    found = proofs.judge()
    if run.resolved_path in found and spec_as_written(run):
        if run.run_json in found:  # a checkpoint vouches for the one, so it is not these two that are wrong
            return {proofs.path: f"{proofs.path} is damaged: it is that of another run"}
        del found[run.resolved_path]
    return found


def spec_as_written(run: RunDirectory) -> bool:
    """Whether spec.resolved.yaml is as it was written, or a copy of one that a whole checkpoint holds."""
    if Proofs(run.path).accepts(SPEC) is not False:
        return True
    try:
        text = read_bounded(run.resolved_path, MAX_JSON_BYTES)
    except RunError:
        return False
    return any(_holds(path, text) for _, path in all_checkpoints(run.checkpoints))


def _holds(path: Path, text: bytes) -> bool:
    try:
        verify(path)
        return (path / SPEC).read_bytes() == text
    except (RunError, OSError):
        return False


def require_specs_as_written(run: RunDirectory) -> None:
    """The code and the settings that a run goes on with are its own. Raises RunError with the file and what to do."""
    check_kept_plugins(run.path / "plugins")
    if run.resolved_path.exists() and not spec_as_written(run):
        raise RunError(
            f"{run.resolved_path} is missing or damaged (its contents changed after it was written); restore it from the run's "
            f"checkpoints/step-*/{SPEC}; settings are changed by --set"
        )


def check_kept_plugins(folder: Path) -> None:
    """Raises RunError for a copy of a plugin that is not what its name says."""
    for path in sorted(folder.glob("*.py")):
        check_kept_plugin(path)


# ---------------------------------------------------------------- the parts


def _texts(run: RunDirectory, proven: dict[Path, str]) -> Iterator[Finding]:
    """run.json and spec.resolved.yaml: what they say must be readable as well as unchanged."""
    yield Finding(run.run_json, _problem(lambda: RunRecord.load(run.run_json)) or proven.get(run.run_json))
    problem = _problem(lambda: read_tree(run.resolved_path))
    yield Finding(run.resolved_path, problem or proven.get(run.resolved_path))


def _others(run: RunDirectory, proven: dict[Path, str]) -> Iterator[Finding]:
    for path in sorted({run.spec_path, run.metrics_path, run.log_path, run.scan_path, *run.samples.glob("*.png")}):
        if path in proven:
            yield Finding(path, proven[path])
        elif path == run.metrics_path:
            yield Finding(path, _problem(lambda: _read_metrics(run)))
        elif path.exists():
            yield Finding(path, _problem(lambda path=path: _read_json(path)) if path == run.scan_path else None)


def _read_metrics(run: RunDirectory) -> None:
    log = MetricsLog(run.metrics_path)
    damaged = log.damaged()
    if damaged:
        raise RunError(f"{run.metrics_path} is damaged: {damaged} of its lines cannot be read")
    steps = [record["step"] for record in log.read()]
    if steps != sorted(steps):  # pyright: ignore[reportArgumentType]  whole numbers
        raise RunError(f"{run.metrics_path} is damaged: its steps go back, so lines of it came there later")


def _read_json(path: Path) -> None:
    try:
        json.loads(read_bounded(path, MAX_JSON_BYTES))
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is damaged: {error}") from error


def _plugins(run: RunDirectory) -> Iterator[Finding]:
    """Kept plugins have their hash in their names."""
    folder = run.path / "plugins"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not is_temporary(path.name):
            yield Finding(path, _problem(lambda path=path: check_kept_plugin(path)))


def check_kept_plugin(path: Path) -> None:
    """A kept copy of a plugin must be what its name says. Raises RunError that names it."""
    match = _KEPT.fullmatch(path.name)
    if match and not hashlib.sha256(read_bounded(path, MAX_JSON_BYTES)).hexdigest().startswith(match[1]):
        raise RunError(f"{path} is damaged: its contents are not those of its name (SHA-256 differs); restore it from a copy")


def _checkpoints(run: RunDirectory) -> Iterator[Finding]:
    checkpoints = all_checkpoints(run.checkpoints)
    for _, path in checkpoints:
        yield Finding(path, _problem(lambda path=path: _check_checkpoint(run, path)))
    missing = missing_checkpoint(run)
    if missing is not None:
        yield Finding(missing, f"{missing} is missing: it was deleted, or a crash came before it was whole")
    if not checkpoints and run.metrics_path.exists():
        yield Finding(run.checkpoints, f"{run.checkpoints} holds no checkpoint")


def missing_checkpoint(run: RunDirectory) -> Path | None:
    """The newest checkpoint of which there is a proof that it was about to be written, if it is not there."""
    try:
        proofs, _ = Proofs(run.path).read()
    except RunError:
        return None
    steps: list[int] = []
    for proof in proofs:
        if proof.file == METRICS and proof.cut is not None:
            steps = [step for step in steps if step <= proof.cut]
        elif proof.step is not None:
            steps.append(proof.step)
    newest = max((step for step, _ in all_checkpoints(run.checkpoints)), default=-1)
    return run.checkpoints / f"step-{max(steps):08d}" if steps and max(steps) > newest else None


def _check_checkpoint(run: RunDirectory, path: Path) -> None:
    manifest = verify(path)
    try:
        tree, fingerprint = read_tree(run.resolved_path), RunRecord.load(run.run_json).data_fingerprint
    except RunError:
        return  # told of the file itself
    check_spec(path / SPEC, tree, path)
    if fingerprint not in (None, manifest.data.fingerprint):
        raise RunError(f"{path} was made from other data than run.json names")


def _leftovers(run: RunDirectory) -> Iterator[Finding]:
    for folder in (run.path, run.checkpoints, run.samples):
        with os_errors_explained("read", folder):
            names = sorted(folder.iterdir()) if folder.is_dir() else []
        for path in names:
            if is_temporary(path.name):
                yield Finding(path, note="left by a writer that crashed or still runs; the next fit removes it if it is ours")
            elif _ASIDE.fullmatch(path.name):
                yield Finding(path, note="damaged, set aside by a later start")


def _problem(read: Callable[[], object]) -> str | None:
    try:
        read()
    except (GantrainError, OSError) as error:
        return " ".join(str(error).split())
    return None
