"""Values that nobody can mean: a stranger's spec must not fill the memory, compute for ever or leave the range of integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pydantic import BaseModel

from gantrain.spec.problems import SpecPath, dotted

MOST = 2**53  # anything else: counts up to here are exact in every number format
MOST_LAYERS = 500
MOST_CHARACTERS = 4000  # of a path
# By the last part of the path; far beyond what the rule size-implausible warns of.
MOST_OF: dict[str, int] = {
    "batch_size": 2**24,
    "discriminator_steps": 1000,
    "accumulate": 2**16,
    "sample_count": 100_000,
    "base_width": 2**16,
    "max_width": 2**16,
    "width": 2**16,
    "units": 2**20,
    "kernel_size": 1024,
    "embedding_size": 2**20,
    "stages": 32,
    "size": 10_000_000,  # of latents, of the replay store
    "length": 100_000,  # of a history
    "seed": 2**63,
}


def out_of_bounds(settings: BaseModel) -> Iterator[tuple[SpecPath, str]]:
    """(place, message) of each whole number, list and text in a spec that is out of all bounds."""
    for path, value in _values(settings, ()):
        if isinstance(value, str) and "\0" in value:
            yield path, f"{dotted(path)} holds the character NUL, which no name and no path can"
            continue
        if isinstance(value, str):
            count, most, words = len(value), MOST_CHARACTERS, f"{dotted(path)} has {len(value):,} characters"
        elif isinstance(value, tuple):
            count, most = len(cast("tuple[Any, ...]", value)), MOST_LAYERS
            words = f"{dotted(path)} has {count:,} entries"
        else:
            count, most = value, MOST_OF.get(_last_key(path), MOST)
            words = f"{dotted(path)} is {value if value < 10**20 else 'a number of more than 20 digits'}"
        if count > most:
            yield path, f"{words}; at most {most:,} can be meant"


def _values(value: Any, path: SpecPath) -> Iterator[tuple[SpecPath, Any]]:
    """Whole numbers, lists and texts, with their places."""
    if isinstance(value, BaseModel):
        for key in type(value).model_fields:
            yield from _values(getattr(value, key), (*path, key))
    elif isinstance(value, tuple):
        yield path, value
        for index, item in enumerate(cast("tuple[Any, ...]", value)[:MOST_LAYERS]):
            yield from _values(item, (*path, index))
    elif isinstance(value, int | str) and not isinstance(value, bool):
        yield path, value


def _last_key(path: SpecPath) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "")
