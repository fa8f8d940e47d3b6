"""Says in plain words what may be written in a place of the spec."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from gantrain import registry
from gantrain.spec.fields import Slot, slot_of
from gantrain.spec.words import plain_number, with_article


def wanted(slot: Slot) -> str:
    """What may be written here, in words."""
    if slot.words is not None:
        return slot.words
    if slot.kind is not None:
        number = "a number of more than 0, or " if slot.takes_numbers else ""
        known = ", ".join(registry.names(slot.kind)) or "none is registered"
        return f"{number}the name of {with_article(slot.kind)} ({known}), or {{name: ..., ...}}"
    return " or ".join(dict.fromkeys(_wanted_one(member, slot.metadata) for member in slot.alternatives()))


def _wanted_one(slot: Slot, outer: tuple[Any, ...]) -> str:
    annotation, bounds = slot.annotation, _bounds((*slot.metadata, *outer))
    simple = {bool: "true or false", str: "text", type(None): "null", int: f"a whole number{bounds}", float: f"a number{bounds}"}
    if annotation in simple:
        return simple[annotation]
    if get_origin(annotation) is Literal:
        return " or ".join(str(choice) for choice in get_args(annotation))
    if get_origin(annotation) in (tuple, list):
        return _wanted_list(get_args(annotation), (*slot.metadata, *outer))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"a mapping with keys of: {', '.join(annotation.model_fields)}"
    return "another value"


def _wanted_list(arguments: tuple[Any, ...], metadata: tuple[Any, ...] = ()) -> str:
    if len(arguments) != 2 or arguments[1] is not ...:
        if arguments and all(argument is float for argument in arguments):
            return f"a list of {len(arguments)} numbers"
        return f"a list of {len(arguments)} values"
    item = slot_of(arguments[0])
    fewest = max((getattr(entry, "min_length", None) or 0 for entry in metadata), default=0)
    return f"a list{f' of at least {fewest}' if fewest else ''}, each item {wanted(item)}"


_BOUND_WORDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def _bounds(metadata: tuple[Any, ...]) -> str:
    found = [
        f"{words} {plain_number(getattr(item, key))}"
        for key, words in _BOUND_WORDS.items()
        for item in metadata
        if hasattr(item, key)
    ]
    return f" of {' and '.join(dict.fromkeys(found))}" if found else ""
