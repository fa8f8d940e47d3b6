"""The command `gantrain`.

Each command's module is imported only when it is called: `--help` stays fast and free of TensorFlow.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from types import FrameType
from typing import Any

import click

from gantrain.cli.output import run_command
from gantrain.errors import InterruptedRun
from gantrain.version import VERSION

# Nothing here is a plugin of pydantic; looking for some among all installed packages costs a tenth of a second and more.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

# name -> (module with a click command named `command`, the line that `gantrain --help` shows)
COMMANDS = {
    "fit": ("gantrain.cli.fit", "Train a GAN from a YAML file, or continue a run."),
    "sample": ("gantrain.cli.sample", "Make pictures from a run or a checkpoint."),
    "predict": ("gantrain.cli.predict", "Outputs and windows of a network of task history."),
    "validate-config": ("gantrain.cli.validate", "Check a YAML file without training; all problems at once."),
    "benchmark": ("gantrain.cli.benchmark", "Where the time of a training step goes, on this machine."),
    "fsck": ("gantrain.cli.fsck", "Look a run directory over for damage; changes nothing."),
    "pack": ("gantrain.cli.pack", "Decode a data source once, into one file that training starts from at once."),
    "list": ("gantrain.cli.listing", "List what a YAML file can name."),
    "schema": ("gantrain.cli.schema", "Print the JSON Schema of the YAML, for editors."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        return importlib.import_module(COMMANDS[cmd_name][0]).command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table's lines; click's own would import every command."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(VERSION, prog_name="gantrain")
def gantrain() -> None:
    """Train GANs from a YAML file.

    Exit codes: 0 done; 1 a bug in gantrain; 2 usage or spec; 3 diverged; 4 data; 5 run directory or checkpoint;
    130 and 143 stopped by Ctrl-C or SIGTERM.
    """


os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else pydantic searches all installed packages for its own plugins


def _terminated(number: int, frame: FrameType | None) -> None:
    """SIGTERM while nothing is trained, where there is nothing to save: end as Ctrl-C does, with everything tidied."""
    del frame
    raise InterruptedRun(number, "stopped by a signal")


def main(arguments: list[str] | None = None) -> Any:
    """The console script: run the command line and exit with the code that DESIGN promises."""
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        code = run_command(lambda: gantrain.main(arguments, prog_name="gantrain", standalone_mode=False))
    finally:
        signal.signal(signal.SIGTERM, before)
    sys.exit(code)
