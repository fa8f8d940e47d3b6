"""The command `gantrain`, which dies at its n-th change of the file system: python -m tests.faults.crashing N fit ...

Every open for writing, fsync, rename, mkdir, unlink and truncation is counted by an audit hook or a wrapper, and the process
kills itself with SIGKILL right before number N. What is being written then may be there in part: every third time the newest
temporary file is cut in half first. N = 0 counts only, and says the number on stderr.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RUN_MARK = "crash-run"  # only what lies below a directory of this name is counted


class Crasher:
    """Counts and, at the wanted number, dies."""

    def __init__(self, at: int) -> None:
        self._at = at
        self.count = 0

    def step(self, path: object) -> None:
        """One change is about to be made to `path`."""
        if RUN_MARK not in _text(path):
            return
        self.count += 1
        if self.count == self._at:
            if self.count % 3 == 0:
                _tear(Path(_text(path)))
            os.kill(os.getpid(), signal.SIGKILL)


def _text(path: object) -> str:
    if isinstance(path, int):
        try:
            return os.readlink(f"/proc/self/fd/{path}")
        except OSError:
            return ""
    return os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""


def _whole(event: str, arguments: tuple[Any, ...]) -> object:
    """The path of an event, which may be relative to an open directory: `shutil.rmtree` works so."""
    path, folder = arguments[0], arguments[-1]
    if event not in ("os.remove", "os.rmdir") or not isinstance(folder, int) or folder < 0:
        return path
    return Path(_text(folder)) / _text(path)


def _tear(path: Path) -> None:
    """A write that got half way: of a hidden temporary file or directory, the only ones that are not whole yet."""
    hidden = next((part for part in (path, *path.parents) if ".gantrain-tmp." in part.name), None)
    files = [hidden] if hidden and hidden.is_file() else sorted(hidden.glob("*")) if hidden and hidden.is_dir() else []
    for file in files[-1:]:
        os.truncate(file, file.stat().st_size // 2)


def install(crasher: Crasher) -> None:
    """Wrap what changes files. Only this process, which ends by it."""

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event == "open" and len(arguments) > 2 and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writes or event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate"):
            crasher.step(_whole(event, arguments))

    sys.addaudithook(audit)
    for name in ("fsync", "ftruncate"):
        setattr(os, name, _counted(getattr(os, name), crasher))


def _counted(function: Callable[..., Any], crasher: Crasher) -> Callable[..., Any]:
    def call(handle: int, *more: Any) -> Any:
        crasher.step(handle)
        return function(handle, *more)

    return call


def main() -> None:
    """Run the command line under a crasher."""
    crasher = Crasher(int(sys.argv[1]))
    from gantrain.cli.main import main as gantrain

    install(crasher)
    try:
        gantrain(sys.argv[2:])
    finally:
        sys.stderr.write(f"file operations: {crasher.count}\n")


if __name__ == "__main__":
    main()
