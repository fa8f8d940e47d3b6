"""Ways to damage a file of a run, and what a run consists of."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

OLDER = ("step-00000040", "step-00000050")  # one checkpoint stands for all


def flip(path: Path, other: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


# name -> function of the file and the same file of another run
DAMAGES: dict[str, Callable[[Path, Path], object]] = {
    "truncated": lambda path, _: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "flipped": flip,
    "deleted": lambda path, _: path.unlink(),
    "emptied": lambda path, _: path.write_bytes(b""),
    "that_of_another_run": lambda path, other: shutil.copy(other, path),
}


def files_of(run: Path) -> list[Path]:
    """Relative paths of what a finished run consists of."""
    found = [path.relative_to(run) for path in run.rglob("*") if path.is_file() and path.name != ".lock"]
    return sorted(path for path in found if not set(path.parts) & set(OLDER))


def damaged_copies(run: Path, other: Path, folder: Path):
    """(file, damage, damaged copy) for each file and each way that changes it."""
    for file in files_of(run):
        for name, damage in DAMAGES.items():
            if name == "that_of_another_run" and (other / file).read_bytes() == (run / file).read_bytes():
                continue
            copy = folder / f"{str(file).replace('/', '-')}-{name}"
            shutil.copytree(run, copy)
            damage(copy / file, other / file)
            yield file, name, copy
