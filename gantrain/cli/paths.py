"""The type of every path on the command line."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path, readable=False)  # what reads it says whether it can, with the exit code of its kind
