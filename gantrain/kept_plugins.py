"""Plugin files travel with the run: copied into `RUN_DIR/plugins` by hash, and named there by the specs that the run keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gantrain import approvals
from gantrain.plugins import LoadedPlugin
from gantrain.rundir.directory import RunDirectory
from gantrain.rundir.files import os_errors_explained, write_atomically

FROM_RUN = "./plugins"  # as seen from RUN_DIR/spec.resolved.yaml
FROM_CHECKPOINT = "../../plugins"  # as seen from RUN_DIR/checkpoints/step-*/spec.resolved.yaml


def with_kept_plugins(tree: Mapping[str, Any], plugins: Sequence[LoadedPlugin], place: str) -> dict[str, Any]:
    """The resolved spec with the run's own copies instead of the user's plugin files; installed modules keep their names."""
    entries = [f"{place}/{_kept_name(plugin)}" if plugin.is_file else plugin.entry for plugin in plugins]
    return {**tree, "plugins": entries}


def keep(run: RunDirectory, plugins: Sequence[LoadedPlugin]) -> None:
    """Copy the plugin files that ran. The user allowed these bytes, so their copy needs no second approval. Raises RunError."""
    folder = run.path / "plugins"
    for plugin in [plugin for plugin in plugins if plugin.is_file]:
        path = folder / _kept_name(plugin)
        with os_errors_explained("create the directory", folder):
            folder.mkdir(exist_ok=True)
        if not path.exists():
            write_atomically(path, plugin.code)
        approvals.remember(path.resolve(), plugin.sha256)


def _kept_name(plugin: LoadedPlugin) -> str:
    """hash-name.py; a file that is such a copy already keeps its name."""
    prefix = plugin.sha256[:16] + "-"
    name = Path(plugin.path).name
    return name if name.startswith(prefix) else prefix + name
