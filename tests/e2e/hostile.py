"""What a stranger, a tool or an accident may do to a run directory: functions of a copy and of a folder outside of it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gantrain.manifest import MANIFEST, _digest

NEWEST, OLDER = "checkpoints/step-00000060", "checkpoints/step-00000050"
STATE = ("state.index", "state.data-00000-of-00001")
Fault = Callable[[Path, Path], object]


def put(name: str, kind: str) -> Fault:
    """Something else in the place of a file or a folder."""

    def fault(run: Path, outside: Path) -> None:
        path = run / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        if kind in ("pipe", "folder"):
            os.mkfifo(path) if kind == "pipe" else path.mkdir()
        elif kind == "file":
            path.write_text("x")
        else:
            targets = {"endless": "/dev/zero", "loop": path, "file outside": outside / "mine.txt", "folder outside": outside}
            path.symlink_to(targets[kind])

    return fault


def rewrite(name: str, **changes: Any) -> Fault:
    """A manifest that says something else and proves itself."""

    def fault(run: Path, outside: Path) -> None:
        del outside
        resign(run / name, **changes)

    return fault


def resign(checkpoint: Path, **changes: Any) -> None:
    """Change a manifest and its digest."""
    tree = json.loads((checkpoint / MANIFEST).read_text())
    tree.pop("sha256")
    for key, value in changes.items():
        (tree["data"] if key in tree["data"] else tree)[key] = value
    (checkpoint / MANIFEST).write_text(json.dumps({**tree, "sha256": _digest(tree)}))


def older_tensors_under_a_new_manifest(run: Path, outside: Path) -> None:
    del outside
    for name in STATE:
        shutil.copy(run / OLDER / name, run / NEWEST)
    facts = {path.name: path for path in (run / NEWEST).iterdir() if path.name != MANIFEST}
    resign(
        run / NEWEST,
        files={
            name: {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for name, path in facts.items()
        },
    )


def swapped_directories(run: Path, outside: Path) -> None:
    (run / OLDER).rename(outside.parent / "other")
    (run / NEWEST).rename(run / OLDER)
    (outside.parent / "other").rename(run / NEWEST)


def odd_neighbours(run: Path, outside: Path) -> None:
    del outside
    for name in ("step-abc", "step-" + "9" * 200, "step-00000099.bak", "step-００００００９９"):
        (run / "checkpoints" / name).mkdir()
    for folder in (run, run / "checkpoints", run / "samples", run / NEWEST):
        (folder / "notes.txt").write_text("x")
        (Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe"))).write_text("x")


def append(name: str, data: bytes) -> Fault:
    """More bytes at the end."""
    return lambda run, outside: (run / name).write_bytes((run / name).read_bytes() + data)  # noqa: ARG005


def lock_of(pid: int, host: str) -> Fault:
    """A holder that is not there any more."""
    holder = {"pid": pid, "host": host, "since": "1970-01-01T00:00:00+00:00"}
    return lambda run, outside: (run / ".lock").write_text(json.dumps(holder))  # noqa: ARG005


FAULTS: dict[str, Fault] = {
    **{f"{name}: {kind}": put(name, kind) for name in ("run.json", "metrics.jsonl", ".lock", "log.txt", ".proofs.jsonl")
       for kind in ("pipe", "folder", "endless", "loop", "file outside")},
    **{f"{name}: {kind}": put(name, kind) for name in ("samples", "checkpoints", NEWEST) for kind in ("file", "folder outside")},
    **{f"{NEWEST}/{name}: {kind}": put(f"{NEWEST}/{name}", kind) for name in (MANIFEST, *STATE) for kind in ("pipe", "folder")},
    "samples/step-00000062.png: file outside": put("samples/step-00000062.png", "file outside"),
    "a format of the future": rewrite(NEWEST, format=2),
    "a format that is no number": rewrite(NEWEST, format="x"),
    "a way out of the checkpoint": rewrite(NEWEST, files={"../../../mine.txt": {"bytes": 5, "sha256": "x"}}),
    "examples larger than any memory": rewrite(NEWEST, shape=[10**9, 10**9, 3]),
    "a range without a width": rewrite(NEWEST, source_range=[5, 5]),
    "tensors of another step": older_tensors_under_a_new_manifest,
    "swapped directories": swapped_directories,
    "odd neighbours": odd_neighbours,
    "a lock of the first process": lock_of(1, os.uname().nodename),
    "a lock of a host that is gone": lock_of(7, "gone"),
    "lines twice": lambda run, outside: append("metrics.jsonl", (run / "metrics.jsonl").read_bytes())(run, outside),
    "a step beyond all numbers": append("metrics.jsonl", b'{"step": ' + b"9" * 4000 + b"}\n"),
    "nothing but zeros": append("metrics.jsonl", bytes(5000)),
    "a deep line": append("metrics.jsonl", b'{"step": ' + b"[" * 100_000 + b"\n"),
}  # fmt: skip
