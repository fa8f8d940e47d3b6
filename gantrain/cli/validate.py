"""`gantrain validate-config`: all problems of a YAML file at once, without TensorFlow."""

from __future__ import annotations

import json
from typing import Any

import click

from gantrain.cli.deep import Judged, judge_deeply
from gantrain.cli.output import echo, show_problems, warn
from gantrain.data.report import Report
from gantrain.spec.arithmetic import known_steps
from gantrain.spec.parse import LoadedSpec, inspect_spec
from gantrain.spec.problems import Problem, SpecError, dotted
from gantrain.spec.trees import dump_yaml, resolved_tree


@click.command("validate-config")
@click.argument("config", type=click.Path())
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, such as training.steps=10. Repeatable."
)
@click.option("--json", "as_json", is_flag=True, help="Problems as JSON on stdout, for editors and CI.")
@click.option("--resolved", is_flag=True, help="Print the spec with every default and absolute paths.")
@click.option("--deep", is_flag=True, help="Open the data, build the nets, take one real step, and judge all of it.")
@click.option("--allow-plugins", is_flag=True, help="Run the plugins that the file names, and remember this approval.")
def command(config: str, overrides: tuple[str, ...], as_json: bool, resolved: bool, deep: bool, allow_plugins: bool) -> int:
    """Check CONFIG without training. Ends with 0 if it can be trained, 2 if not, 4 if only its data cannot be read."""
    loaded, problems = inspected(config, overrides, allow_plugins, as_json)
    result = judge_deeply(loaded, problems) if deep and loaded is not None else Judged(problems)
    code = SpecError(result.problems).exit_code if result.failed else 0
    if as_json:
        shown = _resolved(loaded) if resolved and loaded is not None and not result.failed else None
        echo(_report(result, shown))
        return code
    if result.failed or loaded is None:
        _say_report(result.scan)
        _say_lines(result)
        raise SpecError(result.problems)
    _say(loaded, result.problems, config, resolved)
    _say_report(result.scan)
    _say_lines(result)
    return 0


def inspected(
    config: str, overrides: tuple[str, ...], allow_plugins: bool, as_json: bool
) -> tuple[LoadedSpec | None, list[Problem]]:
    """The spec (None: there is none) and its problems. Raises SpecError for plugins that did not run, unless JSON is wanted."""
    try:
        return inspect_spec(config, overrides, allow_plugins=allow_plugins)
    except SpecError as error:
        if not as_json:
            raise
        return None, error.problems


# ---------------------------------------------------------------- what is said


def _say_lines(result: Judged) -> None:
    for line in result.lines:
        echo(line)


def _say_report(report: Report | None) -> None:
    for line in report.lines if report else ():
        echo(line)
    for warning in report.warnings if report else ():
        warn(f"warning: {warning}")


def _say(loaded: LoadedSpec, problems: list[Problem], config: str, resolved: bool) -> None:
    show_problems(problems)
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


def _report(result: Judged, resolved: dict[str, Any] | None) -> str:
    """One JSON object: ok, problems; the resolved spec, the scan of the data and the deep checks where they were asked for."""
    report: dict[str, Any] = {"ok": not result.failed, "problems": [_as_json(problem) for problem in result.problems]}
    if resolved is not None:
        report["resolved"] = resolved
    if result.scan is not None:
        report["scan"] = {"warnings": list(result.scan.warnings), **result.scan.tree}
    if result.tree is not None:
        report["deep"] = result.tree
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
