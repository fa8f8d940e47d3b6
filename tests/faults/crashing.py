"""The command `gantrain` under a fault: python -m tests.faults.crashing FAULT fit ...

Every open for writing, fsync, rename, mkdir, unlink and truncation is counted by an audit hook or a wrapper. FAULT is one of

none             count only, and say the number on stderr
kill:N           SIGKILL right before number N; what is being written then may be there in part: every third time the newest
                 temporary file is cut in half first
refuse:NAME:N    from number N on the system refuses all but removals with this error, such as ENOSPC
slow:SEC         each takes so long
clock:SEED       the clock on the wall jumps by years, forward and back, whenever it is read
"""

from __future__ import annotations

import errno
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

RUN_MARK = "crash-run"  # only what lies below a directory of this name is counted


REMOVALS = ("os.remove", "os.rmdir")


class Crasher:
    """Counts and, at the wanted number, dies or refuses."""

    def __init__(self, fault: str) -> None:
        self._kind, *words = fault.split(":")
        self._at = int(words[-1]) if self._kind in ("kill", "refuse") else 0
        self._error = getattr(errno, words[0]) if self._kind == "refuse" else 0
        self._delay_sec = float(words[0]) if self._kind == "slow" else 0.0
        self.count = 0

    def step(self, path: object, event: str = "") -> None:
        """One change is about to be made to `path`."""
        if RUN_MARK not in _text(path):
            return
        self.count += 1
        time.sleep(self._delay_sec)
        if self._kind == "refuse" and self.count >= self._at and event not in REMOVALS:
            raise OSError(self._error, os.strerror(self._error), _text(path))
        if self._kind == "kill" and self.count == self._at:
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
    if event not in REMOVALS or not isinstance(folder, int) or folder < 0:
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
            crasher.step(_whole(event, arguments), event)

    sys.addaudithook(audit)
    for name in ("fsync", "ftruncate"):
        setattr(os, name, _counted(getattr(os, name), crasher))


def _counted(function: Callable[..., Any], crasher: Crasher) -> Callable[..., Any]:
    def call(handle: int, *more: Any) -> Any:
        crasher.step(handle)
        return function(handle, *more)

    return call


def jump(seed: int) -> None:
    """From now on each look at the clock on the wall is up to thirty years wrong, in either direction."""
    random_numbers, real = random.Random(seed), datetime
    off = lambda: random_numbers.uniform(-1e9, 1e9)  # noqa: E731  seconds

    class Jumping(real):
        @classmethod
        def now(cls, tz=None):
            return real.now(tz) + timedelta(seconds=off())

    wall = time.time
    time.time = lambda: wall() + off()
    for module in [module for name, module in sys.modules.items() if name.startswith("gantrain.")]:
        if getattr(module, "datetime", None) is real:
            module.datetime = Jumping  # type: ignore[attr-defined]


def main() -> None:
    """Run the command line under a fault."""
    crasher = Crasher(sys.argv[1])
    from gantrain.cli.main import main as gantrain

    if sys.argv[1].startswith("clock:"):
        jump(int(sys.argv[1].removeprefix("clock:")))
    install(crasher)
    try:
        gantrain(sys.argv[2:])
    finally:
        sys.stderr.write(f"file operations: {crasher.count}\n")


if __name__ == "__main__":
    main()
