"""`gantrain fsck`: looks a run directory over and says what is whole, what is damaged and what would be resumed."""

from __future__ import annotations

from pathlib import Path

import click

from gantrain.cli import output
from gantrain.cli.paths import PATH
from gantrain.errors import RunError


@click.command("fsck", short_help="Look a run directory over for damage; changes nothing.")
@click.argument("run_dir", type=PATH)
def command(run_dir: Path) -> int:
    """Check every file of RUN_DIR against what was written. Ends with 0 if all is whole, with 5 if something is damaged.

    Nothing is changed. A run that is being trained right now may look damaged for a moment.
    """
    from gantrain import registry
    from gantrain.inspection import inspect
    from gantrain.rundir.directory import RunDirectory

    registry.load_built_in()
    run = RunDirectory.open_existing(run_dir)
    findings = inspect(run)
    for finding in findings:
        place = finding.path.relative_to(run_dir)
        output.echo(f"{place}: {finding.problem or finding.note or 'whole'}")
    output.echo(_resumed(run.checkpoints))
    damaged = sum(finding.problem is not None for finding in findings)
    if damaged:
        output.error(f"error: {damaged} of {len(findings)} files and checkpoints of {run_dir} are damaged or missing")
        return RunError.exit_code
    return 0


def _resumed(folder: Path) -> str:
    from gantrain.stored import latest_good

    try:
        found = latest_good(folder, lambda text: None)  # noqa: ARG005  told above
    except RunError:
        return "no checkpoint is whole: this run cannot go on"
    return f"a resume would start from {found[0].name}" if found else "a resume would start from the beginning"
