"""Users' own components.

A plugin is code: it runs only when allowed now, or when this user approved that very file and content before.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from gantrain import approvals, registry
from gantrain.errors import GantrainError, UsageError
from gantrain.startup import import_tensorflow

_MAX_BYTES = 10_000_000  # of a plugin file

GROUP = "gantrain.plugins"  # entry-point group: an installed package gives its plugin module a short name


@dataclass(frozen=True)
class LoadedPlugin:
    """`path` of the file that ran, the name of its module, and what ran: its bytes and their hash."""

    entry: str
    path: Path
    module: str
    sha256: str
    code: bytes = field(repr=False)
    is_file: bool = True  # a file of the user's; False: an installed module


@dataclass(frozen=True)
class _Found:
    """A plugin that was read, not run."""

    plugin: LoadedPlugin
    spec: ModuleSpec | None


_loaded: dict[str, LoadedPlugin] = {}  # module name -> what ran


def is_file_entry(entry: str) -> bool:
    """Whether an entry of `plugins:` is a file (./mine.py), not an installed module or entry point."""
    return entry.endswith(".py") or entry.startswith(("./", "../", "/", "~"))


def load(entries: Iterable[str], base_dir: Path, allow: bool) -> list[LoadedPlugin]:
    """Run each plugin once per process and content. Raises UsageError: not found, not approved, or failed, with file and line."""
    return [_load_one(_find(entry, base_dir), allow) for entry in entries]


def installed() -> dict[str, str]:
    """Name -> module of each entry point in the group `gantrain.plugins`."""
    return {point.name: point.value.partition(":")[0] for point in importlib.metadata.entry_points(group=GROUP)}


# ---------------------------------------------------------------- find and read, without running anything


def _find(entry: str, base_dir: Path) -> _Found:
    return _find_file(entry, base_dir) if is_file_entry(entry) else _find_module(entry)


def _find_file(entry: str, base_dir: Path) -> _Found:
    path = _resolved(Path(entry), base_dir)
    code = _read(entry, path)
    module = f"gantrain_plugin_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    return _Found(LoadedPlugin(entry, path, module, _sha256(code), code), None)


def _resolved(path: Path, base_dir: Path) -> Path:
    try:
        return (base_dir / path.expanduser()).resolve()
    except (RuntimeError, ValueError, OSError) as error:
        raise UsageError(f"plugin {path}: {error}; write the path of a Python file") from None


def _find_module(entry: str) -> _Found:
    name = installed().get(entry, entry)
    spec = _module_spec(name)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        known = ", ".join(installed()) or "none"
        hint = f"a file is written ./{entry}.py; installed plugins are: {known}"
        raise UsageError(f"plugin {entry}: there is no installed Python module {name}; {hint}")
    path = Path(spec.origin).resolve()
    code = _read(entry, path)
    return _Found(LoadedPlugin(entry, path, name, _sha256(code), code, is_file=False), spec)


def _module_spec(name: str) -> ModuleSpec | None:
    """Find `a.b.c` without importing `a.b`, as importlib's own find_spec would."""
    search: list[str] | None = None
    spec: ModuleSpec | None = None
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        if not parts[end - 1].isidentifier():
            return None
        spec = PathFinder.find_spec(".".join(parts[:end]), search)
        if spec is None:
            return None
        search = list(spec.submodule_search_locations or [])
    return spec


def _read(entry: str, path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ValueError("it is no file but a pipe or a device")
        with path.open("rb") as file:
            code = file.read(_MAX_BYTES + 1)
        if len(code) > _MAX_BYTES:
            raise ValueError(f"it is larger than {_MAX_BYTES:,} bytes")
        return code
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"plugin {entry}: cannot read {path}: {reason}; paths are relative to the config file") from None


def _sha256(code: bytes) -> str:
    return hashlib.sha256(code).hexdigest()


# ---------------------------------------------------------------- run


def _load_one(found: _Found, allow: bool) -> LoadedPlugin:
    plugin = found.plugin
    before = _loaded.get(plugin.module)
    if before is not None and before.sha256 == plugin.sha256:
        return plugin
    _check_approved(plugin, allow)
    if before is not None:
        registry.forget(plugin.module)
    _run(found)
    _loaded[plugin.module] = plugin
    return plugin


def _check_approved(plugin: LoadedPlugin, allow: bool) -> None:
    if allow:
        approvals.remember(plugin.path, plugin.sha256)
    elif not approvals.is_approved(plugin.path, plugin.sha256):
        raise UsageError(
            f"plugin {plugin.entry} is code that you have not approved\n  file:   {plugin.path}\n  sha256: {plugin.sha256}\n"
            "Read the file. If you trust it, run the same command with --allow-plugins; it is asked once per file and content"
        )


def _run(found: _Found) -> None:
    """Execute the very bytes that were hashed; on failure nothing stays registered."""
    registry.load_built_in()  # ours come first, so that a taken name is the plugin's error
    plugin = found.plugin
    if b"tensorflow" in plugin.code or b"keras" in plugin.code:
        import_tensorflow()  # here, because the plugin would do it with all its chatter
    try:
        module = _new_module(found)
        sys.modules[plugin.module] = module
        exec(compile(plugin.code, str(plugin.path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        registry.forget(plugin.module)
        _loaded.pop(plugin.module, None)
        sys.modules.pop(plugin.module, None)
        raise UsageError(_failure(plugin, error)) from None


def _new_module(found: _Found) -> ModuleType:
    parent = found.plugin.module.rpartition(".")[0]
    if found.spec is not None:
        if parent:
            importlib.import_module(parent)
        return importlib.util.module_from_spec(found.spec)
    module = ModuleType(found.plugin.module)
    module.__file__ = str(found.plugin.path)
    return module


def _failure(plugin: LoadedPlugin, error: BaseException) -> str:
    """File and line inside the plugin, and what was raised there."""
    if isinstance(error, SyntaxError) and error.filename == str(plugin.path):
        return f"plugin {plugin.entry}: {plugin.path}:{error.lineno}: SyntaxError: {error.msg}; correct the plugin"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(plugin.path)]
    place = f"{plugin.path}:{frames[-1].lineno}" if frames else str(plugin.path)
    what = str(error) if isinstance(error, GantrainError) else f"{type(error).__name__}: {error}; correct the plugin"
    return f"plugin {plugin.entry}: {place}: {what}"
