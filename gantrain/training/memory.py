"""Refuses what cannot fit into memory before it is asked for: a system hands out more than it has, and kills later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from gantrain.errors import UsageError

SMALL = 256 * 2**20  # bytes; below, nobody asks
COPIES = 2  # of a weight while its first values are drawn
_MEMORY = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")  # a container's limit


class NotEnoughMemory(UsageError):
    """A net, a batch or a store that is larger than the memory that is free."""


def free_bytes() -> int | None:
    """Bytes that this process can still get from the system or its container; None where that is not known."""
    found = [size for size in (_of_system(), _of_group()) if size is not None]
    return min(found, default=None)


def require(size: int, what: str) -> None:
    """Raises NotEnoughMemory if `what` needs `size` bytes and fewer are free. Memory of a GPU is not judged here."""
    if size <= SMALL or tf.config.list_logical_devices("GPU"):
        return
    free = free_bytes()
    if free is not None and size > free:
        raise NotEnoughMemory(
            f"out of memory: {what} needs {size / 1e9:,.1f} GB, {free / 1e9:,.1f} GB are free; "
            "a smaller data.batch_size, smaller pictures, smaller nets or a smaller latent.size need less"
        )


@contextmanager
def watched_weights(role: str) -> Iterator[None]:
    """Inside, each weight of a layer is required before it is made. Keras has no hook for it, and words errors of its own."""
    original, refused = keras.layers.Layer.add_weight, list[NotEnoughMemory]()

    def add_weight(layer: keras.layers.Layer, shape: Any = None, *arguments: Any, **named: Any) -> Any:
        try:
            require(4 * COPIES * prod(shape or ()), f"a weight {list(shape or ())} of the {role}")
        except NotEnoughMemory as error:
            refused.append(error)
            raise
        return original(layer, shape, *arguments, **named)

    keras.layers.Layer.add_weight = add_weight  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    except Exception:
        if refused:
            raise refused[0] from None
        raise
    finally:
        keras.layers.Layer.add_weight = original


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
