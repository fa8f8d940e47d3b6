"""`gantrain list`: what a YAML file can name."""

from __future__ import annotations

import json

import click

from gantrain import plugins, registry
from gantrain.cli.output import echo, warn
from gantrain.errors import UsageError
from gantrain.spec.fields import find_slot
from gantrain.spec.wanted import wanted
from gantrain.spec.words import did_you_mean


@click.command("list")
@click.argument("kind", required=False, metavar="[KIND | NAME]")
def command(kind: str | None) -> None:
    """List the components that a YAML file can name: of one KIND (generator, loss, ...), or all.

    With a NAME (dcgan, adam, r1, ...) its settings are shown, with their defaults.

    Installed plugins are listed by name; their components appear in a spec that names the plugin in `plugins:`.
    """
    named = [row for row in registry.rows() if row.name == kind]
    if named:
        for line in (line for row in named for line in settings_of(row)):
            echo(line)
        return
    if kind is not None and kind not in registry.KINDS:
        known = {*registry.KINDS, *(row.name for row in registry.rows())}
        raise UsageError(f"there is no kind or component {kind}; {_hint(kind, known)}")
    rows = [(row.kind, row.name, row.summary, row.origin) for row in registry.rows(kind)]
    installed = [("plugin", name, "Write its name in `plugins:`.", module) for name, module in plugins.installed().items()]
    if not rows:
        warn(f"no {kind} is registered")
    for line in table(rows + ([] if kind else installed)):
        echo(line)


def table(rows: list[tuple[str, str, str, str]]) -> list[str]:
    """Rows with aligned columns."""
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    return ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows]


def _hint(kind: str, known: set[str]) -> str:
    """The near name, else the kinds only: all names would be a page."""
    near = did_you_mean(kind, known)
    return near if near.startswith("did you mean") else did_you_mean(kind, registry.KINDS)


def settings_of(row: registry.Row) -> list[str]:
    """A component's kind, name and summary, and a line for each setting: its default, or what must be written."""
    lines = [f"{row.kind} {row.name}: {row.summary}"]
    for key, info in row.settings.model_fields.items():
        words = wanted(find_slot(row.settings, {}, (key,)).slot)
        default = "needed" if info.is_required() else f"default {_shown(info.default)}"
        lines.append(f"  {key}: {default}; {words}")
    return lines


def _shown(value: object) -> str:
    """As YAML has it."""
    return json.dumps(value, default=str)
