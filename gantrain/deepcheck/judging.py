"""All deep checks together: build what the spec names, take one real batch and one real step, and say everything at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

import tensorflow as tf

from gantrain import experiment, registry
from gantrain.deepcheck import modes, outputs, ownership, penalty, precision, resources, showing
from gantrain.deepcheck.findings import Report, finding, of_error
from gantrain.deepcheck.plans import plans
from gantrain.deepcheck.replicas import replicas
from gantrain.deepcheck.subject import Subject
from gantrain.deepcheck.subjects import subject_of
from gantrain.errors import GantrainError, UsageError
from gantrain.experiment import AnyExperiment
from gantrain.interfaces import Source
from gantrain.spec.problems import SpecPath
from gantrain.spec.rules import Finding
from gantrain.spec.tasks import AnySpec
from gantrain.training.nets import Net, own_parameters

T = TypeVar("T")
SAID_ONCE = (
    "gradient-nonfinite",
    "not-repeatable",
)  # each later check sees less of the cause: what one has found, the others repeat


def deep_check(spec: AnySpec, source: Source, is_real: bool) -> Report:
    """Judge the nets of a spec on data of `source` (made up if not `is_real`). Never raises for a user's mistake."""
    report = Report(list(replicas(spec, tf.distribute.get_strategy().num_replicas_in_sync)))
    built = _built(spec, source, report)
    subject = None if built is None else _tried(report, ("data", "source"), lambda: subject_of(built, is_real))
    if subject is not None:
        _judge(subject, report)
        precision.advise(subject, source, report)
    report.findings = _kept(report.findings, spec)
    return report


def _kept(findings: list[Finding], spec: AnySpec) -> list[Finding]:
    """Without warnings that the spec ignores, and each only once."""
    kept = [item for item in findings if item.severity == "error" or item.rule not in spec.ignore]
    return list(dict.fromkeys(kept))


def _tried(report: Report, path: SpecPath, action: Callable[[], T]) -> T | None:
    """The result, or None after a mistake of the user's, which is noted."""
    try:
        with registry.blaming_plugins():
            return action()
    except UsageError as error:
        report.findings.append(of_error(error, path))
    except GantrainError as error:
        report.findings.append(finding("source-unreadable", ("data", "source"), str(error)))
    return None


# ---------------------------------------------------------------- built, or what keeps it from being built


def _built(spec: AnySpec, source: Source, report: Report) -> AnyExperiment | None:
    """The experiment as `fit` has it. Where that fails, each net is tried by itself: all of their faults are said."""
    first = Report()
    built = _tried(first, ("training",), lambda: experiment.build_any(spec, source))
    if built is None:
        known = len(report.findings)
        _try_each(spec, source, report)
        report.findings += first.findings if len(report.findings) == known else []
    return built


def _try_each(spec: AnySpec, source: Source, report: Report) -> None:
    nets = list[Net]()
    for role, plan in plans(spec, source).items():
        net = _tried(report, (role,), plan.build)
        if net is not None:
            nets.append(net)
            _tried(report, (role,), partial(plan.check, net))
            _tried(report, ("objective",), partial(plan.check_objective, net))
    _tried(report, ("training",), lambda: own_parameters(nets))


# ---------------------------------------------------------------- the nets at work


def _judge(subject: Subject, report: Report) -> None:
    of_plugins = bool(subject.spec.plugins)  # what only they can get wrong: tests hold our own components to it
    for role, net in subject.nets.items():
        for check in (ownership.forward, modes.frozen, *([modes.repeatable_forward] if of_plugins else [])):
            _add(report, partial(check, net, subject.inputs[role]), role)
    for check in (outputs.last_activation, outputs.logits, penalty.penalties):
        _add(report, partial(check, subject))
    done = list[ownership.Tried]()
    _add(report, lambda: ownership.updates(subject, done))
    if of_plugins:
        _add(report, lambda: modes.repeatable_updates(subject))
    if not _named(report.findings, "component-fails"):
        _add(report, lambda: _show(subject, done, report))


def _add(report: Report, check: Callable[[], Iterable[Finding]], role: str = "plugins") -> None:
    """The findings of one check. What raises on a plugin's line is the plugin's mistake, else ours."""
    try:
        with registry.blaming_plugins():
            said = {item.rule for item in report.findings if item.rule in SAID_ONCE}
            report.findings += [item for item in check() if item.rule not in said]
    except UsageError as error:
        report.findings.append(of_error(error, role))


def _show(subject: Subject, done: list[ownership.Tried], report: Report) -> list[Finding]:
    """Figures of the first batch, the updates, the layers, the costs of a step that was taken twice; and what they tell."""
    figures, findings = outputs.side_by_side(subject)
    costs, tables = None, {role: resources.layer_table(subject, net) for role, net in subject.nets.items()}
    if not any(item.missing for item in done):
        found, seconds = modes.repeated_step(subject, tables)
        costs = resources.costs(subject, tables, seconds)
        findings += [*found, *resources.disk(subject, costs)]
    report.lines += [*showing.figure_lines(figures), *subject.remarks(), *showing.update_lines(done)]
    for role, rows in tables.items():
        report.lines += showing.layer_lines(role, rows)
    report.lines += showing.cost_lines(costs) if costs is not None else []
    report.tree = showing.tree_of(figures, done, tables, costs)
    return findings


def _named(findings: Iterable[Finding], rule: str) -> bool:
    return any(item.rule == rule for item in findings)
