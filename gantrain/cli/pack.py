"""`gantrain pack`: decode a data source once, into one file that training starts from at once."""

from __future__ import annotations

from pathlib import Path

import click

from gantrain import registry
from gantrain.cli.output import echo, warn
from gantrain.cli.paths import PATH
from gantrain.spec.parse import load_spec
from gantrain.spec.trees import resolved_tree


@click.command("pack", short_help="Decode a data source once, into one file.")
@click.argument("config", type=click.Path())
@click.argument("out", type=PATH)
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, such as data.source.height=64. Repeatable."
)
@click.option("--allow-plugins", is_flag=True, help="Run the plugins that the file names, and remember this approval.")
def command(config: str, out: Path, overrides: tuple[str, ...], allow_plugins: bool) -> None:
    """Decode what `data.source` of CONFIG names into the new file OUT.

    Train from it with  source: {name: packed, path: OUT}  and everything else unchanged: the results are the same bytes.
    """
    loaded = load_spec(config, overrides, allow_plugins=allow_plugins)
    from gantrain.cli.bar import scan_bar
    from gantrain.data import packing
    from gantrain.data.progress import watched
    from gantrain.data.report import report_of

    with scan_bar(quiet=False) as watch, watched(watch):
        source = registry.build(loaded.spec.data.source, loaded.base_dir)
        report = report_of(source)
        for line in report.lines if report else ():
            echo(line)
        for warning in report.warnings if report else ():
            warn(f"warning: {warning}")
        header = packing.write(source, resolved_tree(loaded.spec, loaded.base_dir)["data"]["source"], out)
    shape = "x".join(map(str, header.shape))
    echo(f"{out}: {header.length:,} examples {shape}, {header.size / 2**20:,.1f} MiB; train from it with")
    echo(f"  source: {{name: packed, path: {out.resolve()}}}")
