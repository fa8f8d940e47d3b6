"""One process per run directory: an exclusive lock that the kernel holds, so that a dead holder frees it by itself."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from gantrain.errors import RunError
from gantrain.rundir.files import os_errors_explained

LOCK_NAME = ".lock"
_TRIES = 5
_WAIT_SEC = 0.05


class Holder(BaseModel):
    """Who holds a run directory, as written into its lock file."""

    model_config = ConfigDict(frozen=True)

    pid: int
    host: str
    since: str  # UTC, ISO 8601


@contextmanager
def locked(directory: Path) -> Generator[None, None, None]:
    """Hold the run directory inside the block. Raises RunError that names the holder if another process has it."""
    path = directory / LOCK_NAME
    with os_errors_explained("lock", path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    try:
        _take(handle, directory)
        _write_holder(handle, path)
        yield
    finally:
        os.close(handle)  # frees the lock; the file stays, because removing it would race with the next holder


def is_locked(directory: Path) -> bool:
    """Whether a process holds the run directory now."""
    try:
        handle = os.open(directory / LOCK_NAME, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _try_flock(handle, fcntl.LOCK_SH)
    finally:
        os.close(handle)


def _take(handle: int, directory: Path) -> None:
    # A few tries, because `is_locked` of another process takes the lock for a moment.
    for attempt in range(_TRIES):
        with os_errors_explained("lock", directory):
            if _try_flock(handle, fcntl.LOCK_EX):
                return
        if attempt < _TRIES - 1:
            time.sleep(_WAIT_SEC)
    raise RunError(
        f"the run directory {directory} is in use by {_describe(_read_holder(handle))}; "
        "wait until that process ends (or stop it), or use another directory"
    )


def _try_flock(handle: int, mode: int) -> bool:
    try:
        fcntl.flock(handle, mode | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True


def _write_holder(handle: int, path: Path) -> None:
    holder = Holder(pid=os.getpid(), host=socket.gethostname(), since=datetime.now(UTC).isoformat(timespec="seconds"))
    with os_errors_explained("write", path):
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(holder.model_dump()).encode(), 0)


def _read_holder(handle: int) -> Holder | None:
    try:
        return Holder.model_validate_json(os.pread(handle, 4096, 0))
    except ValidationError:
        return None  # the holder has not written its name yet


def _describe(holder: Holder | None) -> str:
    return f"process {holder.pid} on {holder.host} since {holder.since}" if holder else "another process"
