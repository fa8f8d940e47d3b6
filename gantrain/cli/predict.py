"""`gantrain predict`: outputs of a network of task history, and their windows, for a file of inputs."""

from __future__ import annotations

from pathlib import Path

import click

from gantrain.cli import output
from gantrain.cli.paths import PATH


@click.command("predict", short_help="Outputs and windows of a network of task history.")
@click.argument("checkpoint", type=PATH)
@click.argument("inputs", type=PATH)
@click.option("--out", type=PATH, help="An .npz file; by default named by inputs, run and step.")
@click.option("--allow-plugins", is_flag=True, help="Run the code of the run's plugins.")
def command(checkpoint: Path, inputs: Path, out: Path | None, allow_plugins: bool) -> None:
    """Run the network of CHECKPOINT (a run directory or one checkpoint) on INPUTS, a .npy, .npz or .csv file.

    Writes an .npz with `outputs`, one row per example, and `Z`, the last outputs that end with each of them, newest first.
    """
    from gantrain.startup import start_tensorflow

    start_tensorflow("auto")
    from gantrain.drawing import find_checkpoint
    from gantrain.prediction import predict_file
    from gantrain.spec.parse import read_resolved

    path = find_checkpoint(checkpoint, output.warn)
    spec = read_resolved(path / "spec.resolved.yaml", allow_plugins=allow_plugins)
    output.echo(str(predict_file(path, spec, inputs, out)))
