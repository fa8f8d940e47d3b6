"""Remembers what files were, by path, size and time of change, so that a folder is looked at in full only once.

The cache only saves time: where it cannot be read or written, everything is looked at again.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORMAT = 2  # raise it when the facts or the reader change

RACY_NS = 10**9

Stamp = tuple[int, int]  # bytes, time of the last change in ns
Entry = tuple[Stamp, list[Any]]


def folder() -> Path:
    """$XDG_CACHE_HOME/gantrain/scans, or the same under ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "gantrain" / "scans"


def path_for(root: Path) -> Path:
    """The file for one data folder."""
    return folder() / f"{hashlib.sha256(os.path.abspath(root).encode('utf-8', 'surrogateescape')).hexdigest()[:32]}.json"


def load(root: Path) -> dict[str, Entry]:
    """Name -> (stamp, facts); empty if there is nothing that can be read."""
    try:
        tree = json.loads(path_for(root).read_bytes())
        if tree["format"] != FORMAT:
            return {}
        return {name: ((size, changed), facts) for name, size, changed, facts in tree["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def save(root: Path, entries: Mapping[str, Entry]) -> bool:
    """Replace the file for this folder; whether that worked.

    Files changed a moment ago are left out: another change within the same tick of the clock would not be seen.
    """
    path, settled = path_for(root), time.time_ns() - RACY_NS
    files = [[name, *stamp, facts] for name, (stamp, facts) in entries.items() if stamp[1] < settled]
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps({"format": FORMAT, "root": os.path.abspath(root), "files": files}), encoding="utf-8")
        temporary.replace(path)
    except (OSError, ValueError):  # ValueError: a name that is not UTF-8 and cannot be written even escaped
        temporary.unlink(missing_ok=True)
        return False
    return True


def stamp(path: Path) -> Stamp | None:
    """Bytes and time of the last change; None for a broken link."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
