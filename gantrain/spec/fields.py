"""Finds the field of a settings class that a place in the tree belongs to, and says in plain words what may stand there."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from gantrain import registry
from gantrain.spec.component import Component
from gantrain.spec.plain import as_mapping, item
from gantrain.spec.problems import SpecPath


@dataclass(frozen=True)
class Slot:
    """A place for a value: its annotation, what was annotated beside it (bounds, Component), and its default."""

    annotation: Any
    metadata: tuple[Any, ...] = ()
    default: Any = None
    words: str | None = None  # a field's description says what may stand here

    @property
    def kind(self) -> str | None:
        """Kind of component that stands here, or None."""
        return None if self.component is None else self.component.kind

    @property
    def component(self) -> Component | None:
        """What reads a component here, or None."""
        return next((item for item in self.metadata if isinstance(item, Component)), None)

    @property
    def takes_numbers(self) -> bool:
        """Whether a plain number may stand in the place of a component."""
        return any(item.numbers() for item in self.metadata if isinstance(item, Component))

    def alternatives(self) -> list[Slot]:
        """Members of a union, or the slot itself."""
        if get_origin(self.annotation) in (Union, types.UnionType):
            return [slot_of(member) for member in get_args(self.annotation)]
        return [self]


def slot_of(annotation: Any) -> Slot:
    """Slot of an annotation, `Annotated` taken apart."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        return Slot(inner, tuple(_flat(metadata)))
    return Slot(annotation)


def _slot_of_field(info: FieldInfo) -> Slot:
    slot = slot_of(info.annotation)
    default = None if info.is_required() or info.default_factory else info.default
    return Slot(slot.annotation, (*slot.metadata, *_flat(info.metadata)), default, info.description)


def _flat(metadata: Iterable[Any]) -> Iterator[Any]:
    for entry in metadata:
        yield from _flat(entry.metadata) if isinstance(entry, FieldInfo) else [entry]


# ---------------------------------------------------------------- walking down


@dataclass(frozen=True)
class Found:
    """How far a pydantic location reaches into the tree: `path` leaves out the names of union members it mentions."""

    path: SpecPath
    slot: Slot
    cut: bool = field(default=False)  # whether something of the location was left over


def find_slot(root: type[BaseModel], tree: Any, location: Iterable[str | int]) -> Found:
    """Walk from the settings class `root` and the tree it was given along `location`, as far as both go."""
    slot, value, path = Slot(root), tree, ()
    for part in location:
        step = _step(slot, value, part)
        if step is None:
            member = _union_member(slot, value, part)
            if member is None:
                return Found(path, slot, cut=True)
            slot = member
        else:
            slot, value, path = step, item(value, part), (*path, part)
    return Found(path, slot)


def _union_member(slot: Slot, value: Any, part: str | int) -> Slot | None:
    """pydantic puts the name of a union's member into the location: follow it where the value is a mapping."""
    members = [member for member in slot.alternatives() if settings_class(member, value) is not None]
    named = [member for member in members if getattr(member.annotation, "__name__", None) == part]
    return named[0] if named and isinstance(value, dict) else None


def _step(slot: Slot, value: Any, part: str | int) -> Slot | None:
    if isinstance(part, int):
        return _element(slot, part)
    for member in slot.alternatives() if slot.kind is None else [slot]:
        cls = settings_class(member, value)
        if cls is not None and part in cls.model_fields:
            return _slot_of_field(cls.model_fields[part])
        if member.kind is not None and part == "name":
            return Slot(str)
    return None


def _element(slot: Slot, index: int) -> Slot | None:
    for member in slot.alternatives():
        arguments = get_args(member.annotation)
        if get_origin(member.annotation) is tuple and arguments:
            homogeneous = len(arguments) == 2 and arguments[1] is ...
            if homogeneous or index < len(arguments):
                return slot_of(arguments[0 if homogeneous else index])
        if get_origin(member.annotation) is list and arguments:
            return slot_of(arguments[0])
    return None


def settings_class(slot: Slot, value: Any) -> type[BaseModel] | None:
    """The settings class that reads `value` in this slot: the class itself, or that of the named component."""
    if slot.component is not None:
        name = component_name(value)
        row = registry.find(slot.component.kind, name) if name is not None else None
        return slot.component.settings_of(row) if row else None
    for member in slot.alternatives():
        if isinstance(member.annotation, type) and issubclass(member.annotation, BaseModel):
            return member.annotation
    return None


def component_name(value: Any) -> str | None:
    """The name in `dcgan` or `{name: dcgan, ...}`, or None."""
    tree = as_mapping(value)
    name = tree.get("name") if tree is not None else value
    return name if isinstance(name, str) else None
