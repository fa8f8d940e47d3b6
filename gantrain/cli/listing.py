"""`gantrain list`: what a YAML file can name."""

from __future__ import annotations

from pathlib import Path

import click

from gantrain import plugins, registry
from gantrain.cli.output import echo
from gantrain.errors import UsageError
from gantrain.spec.words import did_you_mean


@click.command("list")
@click.argument("kind", required=False)
@click.option(
    "--plugin", "entries", multiple=True, metavar="ENTRY", help="Also list what this file or module registers. Repeatable."
)
@click.option("--allow-plugins", is_flag=True, help="Run the plugins named with --plugin, and remember this approval.")
def command(kind: str | None, entries: tuple[str, ...], allow_plugins: bool) -> None:
    """List the components that a YAML file can name: of one KIND (generator, loss, ...), or all."""
    if kind is not None and kind not in registry.KINDS:
        raise UsageError(f"there is no kind {kind}; {did_you_mean(kind, registry.KINDS)}")
    plugins.load(entries, Path(), allow_plugins)
    rows = [(row.kind, row.name, row.summary, row.origin) for row in registry.rows(kind)]
    installed = [("plugin", name, "Write its name in `plugins:`.", module) for name, module in plugins.installed().items()]
    for line in table(rows + ([] if kind else installed)):
        echo(line)


def table(rows: list[tuple[str, str, str, str]]) -> list[str]:
    """Rows with aligned columns."""
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    return ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows]
