"""Writing files so that a crash at any moment leaves the old file or the new one, never half of it."""

from __future__ import annotations

import errno
import itertools
import os
import re
import secrets
import shutil
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from gantrain.errors import RunError

_HOST = re.sub(r"[^A-Za-z0-9_-]", "_", socket.gethostname()) or "unknown"
_TOKEN = secrets.token_hex(4)  # tells this process from an earlier one that had the same pid (usual in containers)
_COUNTER = itertools.count()
_TEMPORARY = re.compile(r"^\..+\.gantrain-tmp\.(?P<host>[A-Za-z0-9_-]+)\.(?P<pid>\d+)\.(?P<token>[0-9a-f]{8})\.\d+$")

_ADVICE = {
    errno.EACCES: ("no permission", "choose another place, or ask for the right to write there"),
    errno.EPERM: ("not permitted", "choose another place, or ask for the right to write there"),
    errno.EROFS: ("the file system is read-only", "choose another place (output.dir, --run-dir or --out)"),
    errno.ENOSPC: ("no space left on the device", "make room, then run the same command again"),
    errno.EDQUOT: ("the disk quota is used up", "make room, then run the same command again"),
    errno.ENOTDIR: ("a file is in the place of a directory", "choose another place, or move that file away"),
    errno.EEXIST: ("a file is in the place of a directory", "choose another place, or move that file away"),
    errno.EISDIR: ("a directory is in the place of a file", "move that directory away"),
    errno.ENOENT: ("it does not exist", "check the path"),
    errno.ELOOP: ("it is a link, or one that leads to itself", "put what it should point to in its place"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter name"),
}


@contextmanager
def os_errors_explained(doing: str, path: Path) -> Generator[None, None, None]:
    """Turn an OSError inside the block into a RunError: what (`doing`, such as "write"), where, what to do."""
    try:
        yield
    except OSError as error:
        what, advice = _ADVICE.get(error.errno or 0, (error.strerror or str(error), "check the disk and the path"))
        raise RunError(f"cannot {doing} {path}: {what}; {advice}") from error


def temporary_sibling(path: Path) -> Path:
    """A new hidden name beside `path`, for a file or a directory that is renamed to `path` when whole.

    The name says which process of which host made it, so that `remove_leftovers` can tell whether its maker is gone.
    """
    return path.with_name(f".{path.name}.gantrain-tmp.{_HOST}.{os.getpid()}.{_TOKEN}.{next(_COUNTER)}")


def sync_folder(folder: Path) -> None:
    """Force the names in `folder` to disk: only then does a rename survive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomically(path: Path, data: bytes | str) -> None:
    """Replace the file `path` by `data` (text is written as UTF-8). Raises RunError, and then the old file is untouched.

    A link is followed; what is no regular file (a device, a pipe) is refused, because a rename would destroy it.
    """
    path = Path(os.path.realpath(path))
    temporary = temporary_sibling(path)
    with os_errors_explained("write", path):
        if path.exists() and not path.is_file() and not path.is_dir():
            raise RunError(f"cannot write {path}: it is not a regular file; give the name of a file")
        try:
            _write_synced(temporary, data.encode() if isinstance(data, str) else data)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def read_bounded(path: Path, limit: int) -> bytes:
    """Bytes of a regular file of at most `limit` bytes: a pipe would wait for ever, a huge file would fill the memory.

    Raises RunError that names the file.
    """
    with os_errors_explained("read", path):
        if path.exists() and not path.is_file() and not path.is_dir():
            raise RunError(f"cannot read {path}: it is not a regular file; restore it from a copy")
        with path.open("rb") as file:
            data = file.read(limit + 1)
    if len(data) > limit:
        raise RunError(f"{path} is damaged: it is larger than {limit:,} bytes; restore it from a copy")
    return data


def set_aside(path: Path) -> Path:
    """Rename a damaged file to `damaged-N-NAME` beside it, because nothing is deleted; the new path. Raises RunError."""
    numbers = itertools.count(1)
    aside = next(new for number in numbers if not os.path.lexists(new := path.with_name(f"damaged-{number}-{path.name}")))
    with os_errors_explained("set aside", path):
        path.rename(aside)
        sync_folder(path.parent)
    return aside


def append_line(path: Path, line: str) -> None:
    """Append one line to a text file; a last line torn by a crash is ended first, so that it stays alone. Raises RunError."""
    with os_errors_explained("write", path), path.open("ab+") as file:
        file.write(_missing_newline(file.fileno()) + line.encode() + b"\n")


def sync_file(path: Path) -> None:
    """Force a file's contents to disk. A file that does not exist is nothing to do. Raises RunError."""
    with os_errors_explained("write", path):
        if path.exists():
            handle = os.open(path, os.O_RDWR)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def remove_leftovers(folder: Path) -> list[Path]:
    """Remove from `folder` the temporary files and directories whose maker ran on this host and is gone; returns them.

    Call it under the run's lock. Whatever else lies there (other hosts, live processes, users' files) is left alone.
    """
    with os_errors_explained("tidy", folder):
        leftovers = [path for path in sorted(folder.iterdir()) if _maker_is_gone(path.name)]
        for path in leftovers:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    return leftovers


def is_temporary(name: str) -> bool:
    """Whether a file name follows our pattern of temporary names."""
    return _TEMPORARY.match(name) is not None


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _missing_newline(handle: int) -> bytes:
    size = os.fstat(handle).st_size
    return b"\n" if size > 0 and os.pread(handle, 1, size - 1) != b"\n" else b""


def _maker_is_gone(name: str) -> bool:
    match = _TEMPORARY.match(name)
    if match is None or match["host"] != _HOST:
        return False
    if int(match["pid"]) == os.getpid():
        return match["token"] != _TOKEN
    return not _is_alive(int(match["pid"]))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
