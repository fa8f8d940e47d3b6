"""`gantrain validate-config`: all problems of a YAML file at once, without TensorFlow."""

from __future__ import annotations

import json
from typing import Any

import click

from gantrain import registry
from gantrain.cli.output import echo, show_problems, warn
from gantrain.data.report import Report, report_of
from gantrain.spec.arithmetic import known_steps
from gantrain.spec.parse import LoadedSpec, load_spec, require
from gantrain.spec.problems import Problem, SpecError, dotted
from gantrain.spec.trees import dump_yaml, resolved_tree


@click.command("validate-config")
@click.argument("config", type=click.Path())
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, such as training.steps=10. Repeatable."
)
@click.option("--json", "as_json", is_flag=True, help="Problems as JSON on stdout, for editors and CI.")
@click.option("--resolved", is_flag=True, help="Print the spec with every default and absolute paths.")
@click.option("--deep", is_flag=True, help="Open the data too, look at every file, and show what it holds.")
@click.option("--allow-plugins", is_flag=True, help="Run the plugins that the file names, and remember this approval.")
def command(config: str, overrides: tuple[str, ...], as_json: bool, resolved: bool, deep: bool, allow_plugins: bool) -> int:
    """Check CONFIG without training. Ends with 0 if it can be trained, 2 if not, 4 if only its data cannot be read."""
    try:
        loaded = load_spec(config, overrides, allow_plugins=allow_plugins)
        report = _opened(loaded) if deep else None
    except SpecError as error:
        if not as_json:
            raise
        echo(_report(error.problems, None))
        return error.exit_code
    if as_json:
        echo(_report(loaded.warnings, _resolved(loaded) if resolved else None, report))
    else:
        _say(loaded, config, resolved)
        _say_report(report)
    return 0


def _opened(loaded: LoadedSpec) -> Report | None:
    """Open the data (without TensorFlow) and judge the spec again by what it is. Raises SpecError, DataError."""
    from gantrain.cli.bar import scan_bar
    from gantrain.data.progress import watched
    from gantrain.data.source_facts import facts_of

    with scan_bar(quiet=False) as watch, watched(watch):
        source = registry.build(loaded.spec.data.source, loaded.base_dir)
    require(loaded, facts_of(source))
    return report_of(source)


def _say_report(report: Report | None) -> None:
    for line in report.lines if report else ():
        echo(line)
    for warning in report.warnings if report else ():
        warn(f"warning: {warning}")


def _say(loaded: LoadedSpec, config: str, resolved: bool) -> None:
    show_problems(loaded.warnings)
    echo(dump_yaml(_resolved(loaded)).rstrip() if resolved else f"{config}: ok: {summary(loaded)}")


def _resolved(loaded: LoadedSpec) -> dict[str, Any]:
    return resolved_tree(loaded.spec, loaded.base_dir)


def summary(loaded: LoadedSpec) -> str:
    """Name, task, data and steps in one line."""
    spec, facts = loaded.spec, loaded.facts
    source: str = resolved_tree(spec, loaded.base_dir)["data"]["source"]["name"]
    shape = "x".join(str(side) for side in facts.shape) if facts and facts.shape else "of a shape seen when loaded"
    count = f"{facts.length:,} examples" if facts and facts.length is not None else "a number of examples seen when loaded"
    steps = known_steps(spec, facts.length if facts else None)
    length = f"{steps:,} steps" if steps is not None else f"{spec.training.epochs} epochs"
    return ", ".join([f"{spec.name} ({spec.task})", f"{source} {shape}", count, length, *(facts.notes if facts else ())])


def _report(problems: list[Problem], resolved: dict[str, Any] | None, scan: Report | None = None) -> str:
    """One JSON object: ok, problems, and the resolved spec and the scan of the data where they were asked for."""
    ok = not any(problem.severity == "error" for problem in problems)
    report: dict[str, Any] = {"ok": ok, "problems": [_as_json(problem) for problem in problems]}
    if resolved is not None:
        report["resolved"] = resolved
    if scan is not None:
        report["scan"] = {"warnings": list(scan.warnings), **scan.tree}
    return json.dumps(report, indent=2, default=str)


def _as_json(problem: Problem) -> dict[str, Any]:
    return {
        "rule": problem.rule,
        "severity": problem.severity,
        "message": problem.message,
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "path": dotted(problem.path) if problem.path else "",
    }
