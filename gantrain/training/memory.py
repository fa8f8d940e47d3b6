"""Refuses what cannot fit into memory before it is asked for: a system hands out more than it has, and kills later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import keras
import tensorflow as tf

from gantrain import machine
from gantrain.errors import UsageError

SMALL = 256 * 2**20  # bytes; below, nobody asks
COPIES = 2  # of a weight while its first values are drawn


class NotEnoughMemory(UsageError):
    """A net, a batch or a store that is larger than the memory that is free."""


def require(size: int, what: str) -> None:
    """Raises NotEnoughMemory if `what` needs `size` bytes and fewer are free. Memory of a GPU is not judged here."""
    if size <= SMALL or tf.config.list_logical_devices("GPU"):
        return
    free = machine.free_bytes()
    if free is not None and size > free:
        raise NotEnoughMemory(
            f"out of memory: {what} needs {size / 1e9:,.1f} GB, {free / 1e9:,.1f} GB are free; "
            "a smaller data.batch_size, smaller pictures, smaller nets or a smaller latent.size need less"
        )


@contextmanager
def watched_weights(role: str) -> Iterator[None]:
    """Inside, each weight of a layer is required before it is made. Keras has no hook for it, and words errors of its own."""
    original, refused = keras.layers.Layer.add_weight, list[NotEnoughMemory]()

    def ask(shape: Any = None) -> None:
        try:
            require(4 * COPIES * prod(shape or ()), f"a weight {list(shape or ())} of the {role}")
        except NotEnoughMemory as error:
            refused.append(error)
            raise

    wrapped = lambda layer, *given, **named: (ask(*given[:1] or (named.get("shape"),)), original(layer, *given, **named))[1]  # noqa: E731
    keras.layers.Layer.add_weight = wrapped  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    except Exception:
        if refused:
            raise refused[0] from None
        raise
    finally:
        keras.layers.Layer.add_weight = original
