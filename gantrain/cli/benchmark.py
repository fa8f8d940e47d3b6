"""`gantrain benchmark`: how fast a config trains on this machine, and where the time of a step goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gantrain.cli import output
from gantrain.spec.parse import LoadedSpec, load_spec, require

if TYPE_CHECKING:
    from gantrain.timing import Timing


@click.command("benchmark", short_help="Where the time of a training step goes, on this machine.")
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Change a setting, e.g. training.jit=true.")
@click.option("--seconds", type=click.FloatRange(0.1, 3600), default=20.0, show_default=True, help="About how long to measure.")
@click.option("--device", type=click.Choice(["auto", "cpu", "gpu"]), default="auto", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The figures as JSON.")
@click.option("--allow-plugins", is_flag=True, help="Run the code of `plugins:`, and remember this approval.")
def command(config: Path, overrides: tuple[str, ...], seconds: float, device: str, as_json: bool, allow_plugins: bool) -> None:
    """Train CONFIG for a few seconds and keep nothing of it: images per second of the loop, of the bare step, and its parts."""
    loaded = load_spec(config, overrides, allow_plugins=allow_plugins)
    timing = _measured(loaded, device, seconds)
    output.echo(json.dumps(timing.tree(), indent=2) if as_json else "\n".join(_lines(loaded, timing)))


def _measured(loaded: LoadedSpec, device: str, seconds: float) -> Timing:
    from gantrain.startup import start_tensorflow

    start_tensorflow(device)  # type: ignore[arg-type]
    from gantrain.experiment import build_any, open_source
    from gantrain.timing import measure

    source, facts = open_source(loaded.spec, loaded.base_dir)
    require(loaded, facts)
    return measure(build_any(loaded.spec, source), seconds)


def _lines(loaded: LoadedSpec, timing: Timing) -> list[str]:
    spec = loaded.spec
    loop, step = timing.loop_images_per_sec, timing.step_images_per_sec
    lines = [
        f"{spec.name}: batches of {spec.data.batch_size}, {spec.training.precision}",
        f"loop  {loop:>10,.1f} images/s, data, average, facts and checks included; waits for data {_percent(timing.wait_share)}",
        f"step  {step:>10,.1f} images/s, the same step on a batch at hand: the loop has {loop / step:.2f} of its speed",
        "",
        f"{'each part by itself':<34}  {'ms per step':>11}  of the loop's step",
    ]
    lines += [f"{part.name:<34}  {part.ms:>11,.3f}  {_percent(part.share):>18}" for part in timing.parts]
    return [*lines, "", "data is prepared while the step computes; forwards that two updates share are counted in both"]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
