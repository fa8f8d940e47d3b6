"""`gantrain fit`: parse -> open the data -> say what will happen -> build -> start or continue the run -> train."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from gantrain.cli import output
from gantrain.cli.paths import PATH
from gantrain.errors import UsageError
from gantrain.spec.parse import LoadedSpec, check_resolved, load_spec

if TYPE_CHECKING:  # tqdm is for training only
    from gantrain.cli.bar import Bar, PlainLines, Silence

    Shown: TypeAlias = Bar | PlainLines | Silence


@dataclass(frozen=True)
class Request:
    """The command line, as typed."""

    config: Path | None
    resume: Path | None
    run_dir: Path | None
    overrides: tuple[str, ...]
    device: str
    dry_run: bool
    quiet: bool
    allow_plugins: bool


@click.command("fit", short_help="Train a GAN from a YAML file.")
@click.argument("config", required=False, type=PATH)
@click.option("--resume", metavar="RUN_DIR", type=PATH, help="Continue this run.")
@click.option("--run-dir", metavar="DIR", type=PATH, help="Start this run directory, or continue it.")
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Change a setting, e.g. --set training.steps=100.")
@click.option("--device", type=click.Choice(["auto", "cpu", "gpu"]), default="auto", show_default=True)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and stop.")
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
@click.option("--allow-plugins", is_flag=True, help="Run the code of `plugins:`, and remember this approval.")
def command(
    config: Path | None, resume: Path | None, run_dir: Path | None, overrides: tuple[str, ...], device: str, **flags: bool
) -> None:
    """Train a GAN from a YAML file.

    \b
    gantrain fit CONFIG                   starts a new numbered run
    gantrain fit CONFIG --run-dir DIR     starts DIR, or continues it
    gantrain fit --resume RUN_DIR         continues a run
    """
    request = Request(config, resume, run_dir, overrides, device, **flags)
    loaded = load(request)
    output.show_problems(problem for problem in loaded.warnings if problem.severity == "warning")  # notes: validate-config
    train(request, loaded)


def load(request: Request) -> LoadedSpec:
    """The spec that the command line asks for. Raises UsageError."""
    if (request.config is None) == (request.resume is None):
        raise UsageError("give a CONFIG, or --resume RUN_DIR, not both; see gantrain fit --help")
    if request.resume is not None and request.run_dir is not None:
        raise UsageError("--resume names the run already; leave --run-dir out")
    if request.resume is None:
        assert request.config is not None
        return load_spec(request.config, request.overrides, allow_plugins=request.allow_plugins)
    from gantrain.inspection import require_specs_as_written
    from gantrain.rundir.directory import RunDirectory

    run = RunDirectory.open_existing(request.resume)
    require_specs_as_written(run)
    path = run.resolved_path
    check_resolved(path, allow_plugins=request.allow_plugins)
    return load_spec(path, request.overrides, allow_plugins=request.allow_plugins)


def train(request: Request, loaded: LoadedSpec) -> None:
    """Everything after the spec is known to be right."""
    from gantrain.startup import start_tensorflow

    device = start_tensorflow(request.device)  # type: ignore[arg-type]
    from gantrain.cli.bar import scan_bar
    from gantrain.fitting import Fitting

    with scan_bar(request.quiet) as watch:
        fitting = Fitting(loaded, device, tell=_silent if request.quiet else output.tell, warn=output.remark, watch=watch)
    fitting.describe()
    run = request.run_dir or request.resume
    if run is None:
        fitting.mention_unfinished()
    if request.dry_run:
        return
    with _progress(request.quiet) as make_reporter:
        fitting.train(run, make_reporter)


def _silent(text: str) -> None:
    """--quiet."""
    del text


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[int, int], Shown]]:
    made: list[Shown] = []

    def make(first_step: int, total: int) -> Shown:
        from gantrain.cli.bar import reporter

        made.append(reporter(first_step, total, quiet))
        return made[0]

    try:
        yield make
    finally:
        for item in made:
            item.close()
