"""`gantrain sample`: draw from a run or a checkpoint."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gantrain.cli import output
from gantrain.cli.paths import PATH
from gantrain.errors import UsageError

if TYPE_CHECKING:  # needs TensorFlow
    from gantrain.pictures import Levels


def _layout(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    del context, parameter
    if value is None:
        return None
    match = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", value)
    if match is None:
        raise click.BadParameter("write rows x columns, such as 4x8")
    return int(match[1]), int(match[2])


@click.command("sample", short_help="Draw from a run or a checkpoint.")
@click.argument("checkpoint", type=PATH)
@click.option("--count", type=click.IntRange(min=1), help="How many; 64, or as many as --grid holds.")
@click.option(
    "--seed", type=click.IntRange(min=0, max=2**63 - 1), default=0, show_default=True, help="Picture i depends on (seed, i) only."
)
@click.option("--out", type=PATH, help="File, or directory for --as images.")
@click.option("--as", "form", type=click.Choice(["grid", "images", "npz", "csv"]), default="grid", show_default=True)
@click.option("--grid", "layout", metavar="RxC", callback=_layout, help="Rows x columns of the grid.")
@click.option("--class", "class_name", metavar="NAME", help="Draw this class only (conditional generators).")
@click.option("--weights", type=click.Choice(["ema", "raw"]), help="Moving average (default) or last weights.")
@click.option("--batch-size", type=click.IntRange(min=1), default=64, show_default=True, help="Caps memory.")
@click.option("--reconstruct", type=PATH, help="Task aae: examples beside their reconstructions.")
@click.option("--encode", type=PATH, help="Task aae: codes of examples, with --as npz.")
@click.option("--latent-grid", is_flag=True, help="Task aae: decode a grid over the plane of codes.")
@click.option("--allow-plugins", is_flag=True, help="Run the code of the run's plugins.")
def command(checkpoint: Path, out: Path | None, allow_plugins: bool, **wishes: object) -> None:
    """Draw from CHECKPOINT: a run directory (its latest good checkpoint) or one checkpoint directory."""
    from gantrain.startup import start_tensorflow

    start_tensorflow("auto")
    from gantrain.aae_drawing import AaeDrawing
    from gantrain.drawing import Drawing, draw_from
    from gantrain.inspection import check_kept_plugins
    from gantrain.spec.aae import AaeSpec
    from gantrain.spec.parse import read_resolved

    wish = _wish(**wishes)  # type: ignore[arg-type]

    def draw(path: Path) -> list[Path]:
        check_kept_plugins(path.parent.parent / "plugins")
        spec = read_resolved(path / "spec.resolved.yaml", allow_plugins=allow_plugins)
        if isinstance(spec, AaeSpec):
            return AaeDrawing(path, spec, wish, _warn_of_clipping).write(out)
        return Drawing(path, spec, wish, _warn_of_clipping).write(out)

    files = draw_from(checkpoint, output.warn, draw)
    output.echo(str(files[0]) if len(files) == 1 else f"{len(files)} files in {files[0].parent}")


def _warn_of_clipping(levels: Levels) -> None:
    if levels.clipped:
        output.warn(f"warning: {levels}")


def _wish(count: int | None, layout: tuple[int, int] | None, **rest: object):
    from gantrain.drawing import Wish

    cells = layout[0] * layout[1] if layout else None
    if cells is not None and count is not None and count > cells:
        raise UsageError(f"--grid {layout[0]}x{layout[1]} holds {cells} pictures, --count asks for {count}")  # type: ignore[index]
    roads = [name for name in ("reconstruct", "encode", "latent_grid") if rest[name]]
    if len(roads) > 1 or (roads and count is not None):
        words = [f"--{name.replace('_', '-')}" for name in roads]
        raise UsageError(f"{words[0]} does not go with {words[1] if len(words) > 1 else '--count'}; leave one of them out")
    return Wish(count=count or cells or 64, layout=layout, **rest)  # type: ignore[arg-type]
