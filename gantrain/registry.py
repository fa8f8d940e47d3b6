"""Names in the YAML file -> settings classes and builders. One decorator for our own catalogs and for users' plugins."""

from __future__ import annotations

import importlib
import re
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gantrain.errors import GantrainError, UsageError, in_words
from gantrain.interfaces import Settings

# Our own components. They are imported by name, so that this floor does not depend on the wings above it.
BUILT_IN_CATALOGS = (
    "gantrain.data.catalog",
    "gantrain.models.catalog",
    "gantrain.objectives.catalog",
    "gantrain.training.catalog",
)

KINDS = (
    "source",
    "generator",
    "discriminator",
    "encoder",
    "model",
    "prior",
    "loss",
    "window_loss",
    "penalty",
    "regulariser",
    "constraint",
    "optimizer",
    "schedule",
)

S = TypeVar("S", bound=type[Settings])


@dataclass(frozen=True)
class Row:
    """One registered component: `settings` is the schema of its YAML, `builder` makes the object from them."""

    kind: str
    name: str
    settings: type[Settings]
    builder: str | Callable[..., Any]
    origin: str

    @property
    def summary(self) -> str:
        """First line of the settings class' docstring."""
        return (self.settings.__doc__ or "").strip().split("\n")[0]

    @property
    def is_plugin(self) -> bool:
        """Whether a user wrote it, not we."""
        return not self.origin.startswith("gantrain.")

    @property
    def file(self) -> str | None:
        """Of the module that registered it, if that has one."""
        return getattr(sys.modules.get(self.origin), "__file__", None)

    def placed(self, line: int | None = None) -> str:
        """Kind and name, and the file (and line) of it: what a message about a plugin begins with."""
        return f"{self.kind} {self.name} ({self.file or self.origin}{'' if line is None else f':{line}'})"


_rows: dict[tuple[str, str], Row] = {}
_by_settings: dict[type[Settings], Row] = {}


def register(kind: str, name: str, *, build: str | Callable[..., Any] | None = None) -> Callable[[S], S]:
    """Class decorator: make settings class available as `name` under `kind`.

    `build` is "module:attribute" (imported only when used) or a callable, called as build(settings, *arguments of the kind);
    without it the class' own method `build(self, ...)` is used. A taken name is an error, never an overwrite.
    """

    def add(settings: S) -> S:
        _check_new(kind, name)
        builder = build if build is not None else getattr(settings, "build", None)
        if builder is None:
            raise UsageError(f"{kind} {name!r}: give `build=` to @register or write a method `build` in {settings.__name__}")
        row = Row(kind, name, settings, builder, settings.__module__)
        _rows[kind, name] = row
        _by_settings[settings] = row
        return settings

    return add


def _check_new(kind: str, name: str) -> None:
    if kind not in KINDS:
        raise UsageError(f"{kind!r} is not a kind of component; kinds are {', '.join(KINDS)}")
    if (kind, name) in _rows:
        taken = _rows[kind, name].origin
        raise UsageError(f"{kind} {name!r} is already registered by {taken}; choose another name")


def load_built_in() -> None:
    """Import our own catalogs (free of TensorFlow). Safe to call often."""
    for module in BUILT_IN_CATALOGS:
        importlib.import_module(module)


def forget(origin: str) -> None:
    """Remove all rows registered by one plugin module, so that an edited plugin can be loaded again."""
    for key in [key for key, row in _rows.items() if row.origin == origin]:
        del _by_settings[_rows[key].settings]
        del _rows[key]


def rows(kind: str | None = None) -> Iterator[Row]:
    """All rows, or those of one kind, in the order of KINDS and then of names."""
    load_built_in()
    for key in sorted(_rows, key=lambda key: (KINDS.index(key[0]), key[1])):
        if kind is None or key[0] == kind:
            yield _rows[key]


def names(kind: str) -> list[str]:
    """Registered names of a kind, sorted."""
    return [row.name for row in rows(kind)]


def find(kind: str, name: str) -> Row | None:
    """The row, or None."""
    load_built_in()
    return _rows.get((kind, name))


def row_of(settings: Settings) -> Row:
    """The row a settings object belongs to: that of its class, or of the class it extends."""
    return next(_by_settings[cls] for cls in type(settings).__mro__ if cls in _by_settings)


@contextmanager
def blaming(row: Row) -> Generator[None, None, None]:
    """Around calls of a component: what a plugin raises becomes a UsageError with its line; ours, and lack of memory, pass."""
    try:
        yield
    except GantrainError:
        raise
    except Exception as error:
        if _lacks_memory(error) or not row.is_plugin:
            raise
        raise UsageError(f"{row.placed(_line_inside(row, error))}: {in_words(error)}; correct the plugin") from error


@contextmanager
def blaming_plugins() -> Generator[None, None, None]:
    """Around training: an error on whose way a plugin's line lies becomes a UsageError that names it; others pass, so do ours."""
    try:
        yield
    except GantrainError:
        raise
    except Exception as error:
        place = plugin_line(error)
        if place is None or _lacks_memory(error):
            raise
        raise UsageError(f"a component fails in training, at {place}: {in_words(error)}; correct the plugin") from error


def plugin_line(error: BaseException) -> str | None:
    """`file:line` of the innermost line of a plugin on the way to an error, or None."""
    for file, owner in {row.file: row for row in _rows.values() if row.is_plugin and row.file}.items():
        line = _line_inside(owner, error) or _line_in_words(file, str(error))
        if line is not None:
            return f"{file}:{line}"
    return None


def _line_in_words(file: str, message: str) -> int | None:
    """An error of a running graph has no frames: TensorFlow writes those of the operation into the message."""
    found = re.findall(rf'File "{re.escape(file)}", line (\d+)', message)
    return int(found[-1]) if found else None


def _lacks_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or type(error).__name__ == "ResourceExhaustedError"


def _line_inside(row: Row, error: BaseException) -> int | None:
    """The innermost line of the plugin's own file on the way to the error; None if it was raised outside of it."""
    if row.file is None:
        return None
    file, frames = Path(row.file).resolve(), traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if Path(frame.filename).resolve() == file), None)


def build(settings: Settings, *arguments: Any) -> Any:
    """Build the object that `settings` describe. The arguments depend on the kind, see interfaces.py.

    Raises UsageError for whatever a plugin's builder raises.
    """
    row = row_of(settings)
    with blaming(row):
        builder = row.builder
        if isinstance(builder, str):
            module, attribute = builder.split(":")
            builder = getattr(importlib.import_module(module), attribute)
        assert callable(builder), f"the builder of {row.kind} {row.name} cannot be called"
        return builder(settings, *arguments)
