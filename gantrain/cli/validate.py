"""`gantrain validate-config`: all problems of a YAML file at once, without TensorFlow."""

from __future__ import annotations

import json
from typing import Any

import click

from gantrain.cli.output import echo, show_problems
from gantrain.spec.arithmetic import known_steps
from gantrain.spec.parse import LoadedSpec, load_spec
from gantrain.spec.problems import Problem, SpecError, dotted
from gantrain.spec.trees import dump_yaml, resolved_tree


@click.command("validate-config")
@click.argument("config", type=click.Path())
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, such as training.steps=10. Repeatable."
)
@click.option("--json", "as_json", is_flag=True, help="Problems as JSON on stdout, for editors and CI.")
@click.option("--resolved", is_flag=True, help="Print the spec with every default and absolute paths.")
@click.option("--allow-plugins", is_flag=True, help="Run the plugins that the file names, and remember this approval.")
def command(config: str, overrides: tuple[str, ...], as_json: bool, resolved: bool, allow_plugins: bool) -> int:
    """Check CONFIG without training. Ends with 0 if it can be trained, 2 if not, 4 if only its data cannot be read."""
    try:
        loaded = load_spec(config, overrides, allow_plugins=allow_plugins)
    except SpecError as error:
        if not as_json:
            raise
        echo(_report(error.problems, None))
        return error.exit_code
    if as_json:
        echo(_report(loaded.warnings, _resolved(loaded) if resolved else None))
    else:
        _say(loaded, config, resolved)
    return 0


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


def _report(problems: list[Problem], resolved: dict[str, Any] | None) -> str:
    """One JSON object: ok, problems, and the resolved spec where it was asked for."""
    ok = not any(problem.severity == "error" for problem in problems)
    report: dict[str, Any] = {"ok": ok, "problems": [_as_json(problem) for problem in problems]}
    return json.dumps(report | ({"resolved": resolved} if resolved is not None else {}), indent=2)


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
