"""`gantrain list`: what a YAML file can name."""

from __future__ import annotations

import click

from gantrain import plugins, registry
from gantrain.cli.output import echo, warn
from gantrain.errors import UsageError
from gantrain.spec.words import did_you_mean


@click.command("list")
@click.argument("kind", required=False)
def command(kind: str | None) -> None:
    """List the components that a YAML file can name: of one KIND (generator, loss, ...), or all.

    Installed plugins are listed by name; their components appear in a spec that names the plugin in `plugins:`.
    """
    if kind is not None and kind not in registry.KINDS:
        raise UsageError(f"there is no kind {kind}; {did_you_mean(kind, registry.KINDS)}")
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
