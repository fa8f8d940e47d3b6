"""Which plugin files this user has approved: path and hash, in one JSON file of the user's configuration folder."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from gantrain.errors import UsageError


def approvals_file() -> Path:
    """$XDG_CONFIG_HOME/gantrain/approved_plugins.json, or below ~/.config."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~")) / ".config"
    return folder / "gantrain" / "approved_plugins.json"


def is_approved(path: Path, sha256: str) -> bool:
    """Whether this very content was approved at this absolute path."""
    return sha256 in _read().get(str(path), [])


def remember(path: Path, sha256: str) -> None:
    """Approve a content at a path for later runs. Raises UsageError if it cannot be written down."""
    approved = _read()
    known = approved.setdefault(str(path), [])
    if sha256 in known:
        return
    known.append(sha256)
    try:
        _write(approved)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(
            f"cannot remember the approval in {approvals_file()}: {reason}; set XDG_CONFIG_HOME to a writable folder"
        ) from None


def _read() -> dict[str, list[str]]:
    file = approvals_file()
    try:
        tree: Any = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(
            f"cannot read {file}: {error}; correct or delete it, and approve plugins again with --allow-plugins"
        ) from None
    if not _is_table(tree):
        raise UsageError(f"{file} is not a table of approvals; delete it, and approve plugins again with --allow-plugins")
    return tree


def _is_table(tree: Any) -> bool:
    return isinstance(tree, dict) and all(isinstance(hashes, list) for hashes in tree.values())  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]


def _write(approved: dict[str, list[str]]) -> None:
    """To a temporary file in the same folder, then renamed: never half a file."""
    file = approvals_file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    with os.fdopen(handle, "w", encoding="utf-8") as temporary:
        json.dump(approved, temporary, indent=1, sort_keys=True)
    os.replace(name, file)
