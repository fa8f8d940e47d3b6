"""Lets a command show how far a long look at the data is, without every builder having to pass a callback on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Watch = Callable[[str, int, int], None]  # (what is done, how many are done, of how many)

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(watch: Watch | None) -> Iterator[None]:
    """Inside, `advance` calls `watch`."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def advance(what: str, done: int, total: int) -> None:
    """Tell whoever watches."""
    watch = _watch.get()
    if watch is not None:
        watch(what, done, total)
