"""What this machine, or the container it is in, has left."""

from __future__ import annotations

from pathlib import Path

_MEMORY = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")  # a container's limit


def free_bytes() -> int | None:
    """Bytes of memory that this process can still get; None where that is not known."""
    found = [size for size in (_of_system(), _of_group()) if size is not None]
    return min(found, default=None)


def _of_system() -> int | None:
    lines = _numbers(_MEMORY)
    return 1024 * lines["MemAvailable:"] if "MemAvailable:" in lines else None


def _of_group() -> int | None:
    """Limit minus use; pages of files that were read can be dropped and do not count."""
    most, used = (_number(_GROUP / name) for name in ("memory.max", "memory.current"))
    if most is None or used is None:
        return None
    stat = _numbers(_GROUP / "memory.stat")
    return most - used + stat.get("inactive_file", 0) + stat.get("active_file", 0)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # not there, or `max`
        return None


def _numbers(path: Path) -> dict[str, int]:
    try:
        lines = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return {}
    return {line[0]: int(line[1]) for line in lines if len(line) > 1 and line[1].isdigit()}
