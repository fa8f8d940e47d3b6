"""`gantrain schema`: the JSON Schema of the YAML, for editors."""

from __future__ import annotations

import json

import click

from gantrain.cli.output import echo
from gantrain.spec.schema import json_schema


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the YAML file, for editors that complete and check while you type."""
    echo(json.dumps(json_schema(), indent=2))
