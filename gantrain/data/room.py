"""Files that may not be read: what is no file waits for ever or never ends, and what is larger than the memory fills it."""

from __future__ import annotations

from pathlib import Path

from gantrain import machine
from gantrain.errors import DataError


def check_regular(path: Path) -> None:
    """Raises DataError for a pipe, a device or a socket; what does not exist, and a folder, is told of elsewhere."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise DataError(f"{path} is no file but a pipe, a device or a socket; give the path of a file")


def check_fits(size: int, what: str, advice: str) -> None:
    """Raises DataError if reading `what` takes `size` bytes of memory and fewer are free."""
    free = machine.free_bytes()
    if free is not None and size > free:
        raise DataError(f"{what} takes {size / 1e9:,.1f} GB of memory, {free / 1e9:,.1f} GB are free; {advice}")
