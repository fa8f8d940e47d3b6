"""Links in a run directory: nothing is written through one to a place outside, and nothing into a hard-linked copy."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from gantrain.errors import RunError
from gantrain.rundir.files import os_errors_explained, read_bounded, write_atomically

_MAX_BYTES = 2**30


def symbolic_links(paths: Iterable[Path]) -> dict[Path, str]:
    """Path -> what is wrong with it, for each that is a link: a stranger's run must not write where it points to."""
    return {
        path: f"{path} is a link to {os.readlink(path)}: a run writes only inside its directory; put a copy in its place, "
        "or link the whole run directory"
        for path in paths
        if path.is_symlink()
    }


def refuse_links(paths: Iterable[Path]) -> None:
    """Raises RunError for the first one."""
    for problem in symbolic_links(paths).values():
        raise RunError(problem)


def unshare(paths: Iterable[Path]) -> None:
    """Give growing files that another name shares (`cp -al`) a body of their own, so that a copy stays as it is."""
    for path in paths:
        with os_errors_explained("read", path):
            shared = path.is_file() and path.stat().st_nlink > 1
        if shared:
            write_atomically(path, read_bounded(path, _MAX_BYTES))
