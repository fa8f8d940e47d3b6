"""`.proofs.jsonl`: size and SHA-256 of what a run wrote outside its checkpoints, so that later damage is found and named.

Each line proves one file and itself; the file only grows while a run goes on. A file that is replaced has two accepted contents,
those before and the new ones: a crash between the proof and the file is no damage. Files that only grow (`metrics.jsonl`,
`log.txt`) are proven up to the length they had at each checkpoint (`step`); a line with `cut` forgets those of later steps.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gantrain.errors import RunError
from gantrain.rundir.files import append_line, os_errors_explained, read_bounded, sync_file, write_atomically
from gantrain.rundir.metrics import CutBack, MetricsLog

PROOFS_NAME = ".proofs.jsonl"
METRICS = "metrics.jsonl"
GROWING = (METRICS, "log.txt")
_MAX_BYTES = 256_000_000
_INSIDE = r"^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$"  # never a way out of the run directory


class Proof(BaseModel):
    """One line: a file of the run as it was written, or the beginning of a growing one at a step."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: Annotated[str, Field(pattern=_INSIDE)]  # relative to the run
    bytes: Annotated[int, Field(ge=0)]
    sha256: str
    step: int | None = None  # of the checkpoint, for files that grow
    cut: int | None = None  # what was proven of later steps is forgotten

    @classmethod
    def of(cls, name: str, data: bytes) -> Proof:
        """Of a file's bytes."""
        return cls(file=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())

    def line(self) -> str:
        """As it stands in the file, with a proof of itself."""
        tree = self.model_dump(exclude_none=True)
        return json.dumps({**tree, "check": _check(tree)}, ensure_ascii=False)

    @classmethod
    def parse(cls, line: bytes) -> Proof | None:
        """None for a damaged line."""
        try:
            tree: Any = json.loads(line)
            return cls.model_validate(tree) if tree.pop("check") == _check(tree) else None
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError, ValidationError):
            return None


class Proofs:
    """The proofs of one run directory. Use it under the run's lock, from one thread at a time."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self.path = run / PROOFS_NAME
        self._hashes: dict[str, tuple[int, Any]] = {}  # growing files: bytes so far, and their hash

    def note(self, files: Mapping[str, bytes | str]) -> None:
        """Accept these contents of files that are about to be written, beside those of now. Raises RunError."""
        self._append(Proof.of(name, data.encode() if isinstance(data, str) else data) for name, data in files.items())
        sync_file(self.path)

    def checkpointed(self, step: int, written: Iterable[Path]) -> None:
        """Prove the growing files as they are now, and the files of the run that were `written` since. Raises RunError."""
        proofs: list[Proof] = []
        for path in written:
            with os_errors_explained("read", path):
                proofs.append(Proof.of(path.relative_to(self._run).as_posix(), path.read_bytes()))
        proofs += [self._grown(name, step) for name in GROWING if (self._run / name).exists()]
        self._append(proofs)

    def cut_back(self, step: int) -> CutBack:
        """Cut metrics.jsonl back to `step`, and forget before what was proven of it after that step. Raises RunError."""
        if any(proof.step is not None and proof.step > step for proof in self._readable()):
            self._append([Proof(file=METRICS, bytes=0, sha256="", cut=step)])
        self._hashes.clear()
        return MetricsLog(self._run / METRICS).cut_back(step, self._proven(step))

    def _proven(self, step: int) -> int | None:
        """Bytes of metrics.jsonl at a checkpoint, if they are still as they were then."""
        at_step = [proof for proof in _by_file(self._readable()).get(METRICS, []) if proof.step == step]
        whole = at_step and _judged(self._run / METRICS, at_step) is None
        return at_step[-1].bytes if whole else None

    def judge(self) -> dict[Path, str]:
        """Path -> what is wrong with it, for each file that is not as it was written; nothing is changed. Never raises."""
        try:
            proofs, damaged = self.read()
        except RunError as error:
            return {self.path: str(error)}
        findings = {self._run / name: _judged(self._run / name, accepted) for name, accepted in _by_file(proofs).items()}
        if damaged or not proofs:
            what = f"{damaged} of its lines are torn or changed" if damaged else "it is empty"
            findings[self.path] = f"{self.path} is damaged: {what}"
        return {path: found for path, found in findings.items() if found}

    def accepts(self, name: str) -> bool | None:
        """Whether a file is as it was written; None if nothing is known of it."""
        try:
            accepted = _by_file(self.read()[0]).get(name)
        except RunError:
            return None
        return None if accepted is None else _judged(self._run / name, accepted) is None

    def read(self) -> tuple[list[Proof], int]:
        """The proofs in order, and how many lines are damaged or torn. Raises RunError."""
        lines = [line for line in read_bounded(self.path, _MAX_BYTES).split(b"\n") if line]
        parsed = [Proof.parse(line) for line in lines]
        return [proof for proof in parsed if proof], sum(proof is None for proof in parsed)

    def start_anew(self) -> None:
        """Write the file again with what still counts, if it is damaged or superseded lines are most of it. Raises RunError."""
        known = self._readable()
        counting = [proof for accepted in _by_file(known).values() for proof in accepted]
        if self.path not in self.judge() and len(known) <= 2 * len(counting):
            return  # a finished run that is only looked at keeps its bytes
        write_atomically(self.path, "".join(proof.line() + "\n" for proof in counting))

    def _readable(self) -> list[Proof]:
        try:
            return self.read()[0]
        except RunError:
            return []

    def _grown(self, name: str, step: int) -> Proof:
        path = self._run / name
        done, digest = self._hashes.get(name, (0, hashlib.sha256()))
        with os_errors_explained("read", path), path.open("rb") as file:
            file.seek(done)
            while data := file.read(1 << 20):
                digest.update(data)
                done += len(data)
        self._hashes[name] = (done, digest)
        return Proof(file=name, bytes=done, sha256=digest.hexdigest(), step=step)

    def _append(self, proofs: Iterable[Proof]) -> None:
        lines = [proof.line() for proof in proofs]
        if lines:
            append_line(self.path, "\n".join(lines))


def _check(tree: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(tree), sort_keys=True).encode()).hexdigest()[:8]


def _by_file(proofs: Iterable[Proof]) -> dict[str, list[Proof]]:
    """name -> what counts of it: the last two contents, or all lengths that were not cut."""
    found: dict[str, list[Proof]] = {}
    for proof in proofs:
        known = found.setdefault(proof.file, [])
        if proof.cut is not None:
            known[:] = [other for other in known if other.step is not None and other.step <= proof.cut]
        elif proof.step is not None:
            known[:] = [*(other for other in known if other.step != proof.step), proof][-100:]
        else:
            known[:] = [*[other for other in known if other != proof][-1:], proof]
    return {name: accepted for name, accepted in found.items() if accepted}


def _judged(path: Path, accepted: list[Proof]) -> str | None:
    try:
        if accepted[-1].step is not None:
            return _beginning(path, max(accepted, key=lambda proof: proof.bytes))
        data = read_bounded(path, _MAX_BYTES)
    except RunError as error:
        return str(error)
    if Proof.of(accepted[-1].file, data) in accepted:
        return None
    return f"{path} is damaged: its contents changed after it was written (SHA-256 differs)"


def _beginning(path: Path, proof: Proof) -> str | None:
    with os_errors_explained("read", path):
        if path.exists() and not path.is_file() and not path.is_dir():
            return f"{path} is damaged: it is not a regular file"
        size = path.stat().st_size
        if size < proof.bytes:
            return f"{path} is damaged: it has {size} bytes, {proof.bytes} were written"
        with path.open("rb") as file:
            data = file.read(proof.bytes)
    same = hashlib.sha256(data).hexdigest() == proof.sha256
    return None if same else f"{path} is damaged: its first {proof.bytes} bytes changed after they were written"
