"""All deep checks together: build what the spec names, take one real batch and one real step, and say everything at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

import tensorflow as tf

from gantrain import experiment
from gantrain.deepcheck import modes, outputs, ownership, penalty, precision, resources, showing
from gantrain.deepcheck.findings import Report, finding, of_error
from gantrain.deepcheck.replicas import replicas
from gantrain.deepcheck.subject import Subject, subject_of
from gantrain.errors import GantrainError, UsageError, in_words
from gantrain.interfaces import Source
from gantrain.manifest import DataFacts
from gantrain.spec.model import Spec
from gantrain.spec.problems import SpecPath
from gantrain.spec.rules import Finding
from gantrain.spec.tasks import AnySpec
from gantrain.training.assembly import labels_used
from gantrain.training.nets import Net, own_parameters
from gantrain.training.wiring import check_discriminator, check_generator, check_plugins

T = TypeVar("T")


def deep_check(spec: AnySpec, source: Source, is_real: bool) -> Report:
    """Judge the nets of a spec on data of `source` (made up if not `is_real`). Never raises for a user's mistake.

    The nets of other tasks than `gan` are built and tried as `fit` does it, and no more; a line says so.
    """
    report = Report()
    if not isinstance(spec, Spec):
        _tried(report, ("training",), lambda: experiment.build_any(spec, source))
        report.lines.append(f"the nets of task {spec.task} were built and called; their updates are judged for task gan only")
        return report
    report.findings += replicas(spec, tf.distribute.get_strategy().num_replicas_in_sync)
    nets = _nets(spec, source, report)
    if nets is None or report.stopped:
        return report
    built = _tried(report, ("training",), lambda: experiment.build(spec, source))
    subject = _tried(report, ("data", "source"), lambda: subject_of(built, is_real)) if built is not None else None
    if subject is not None:
        _judge(subject, report)
        precision.advise(subject, source, report)
    report.findings = _kept(report.findings, spec)
    return report


def _kept(findings: list[Finding], spec: Spec) -> list[Finding]:
    """Without warnings that the spec ignores, and each only once."""
    kept = [item for item in findings if item.severity == "error" or item.rule not in spec.ignore]
    return list(dict.fromkeys(kept))


# ---------------------------------------------------------------- the nets, each by itself


def _nets(spec: Spec, source: Source, report: Report) -> tuple[Net, Net] | None:
    """Both nets, or None if one cannot be built; the other is judged all the same."""
    facts = DataFacts.of(source, spec.data.range)
    classes = (len(facts.class_names) or None) if labels_used(spec) else None
    latent = spec.latent.distribution, spec.latent.size
    generator = _tried(report, ("generator",), lambda: experiment.build_net(spec, "generator", facts))
    if generator is not None:
        _tried(report, ("generator",), lambda: check_generator(generator, facts.shape, spec.latent.size, classes))
    discriminator = _tried(report, ("discriminator",), lambda: experiment.build_net(spec, "discriminator", facts))
    if discriminator is not None:
        _tried(report, ("discriminator",), lambda: check_discriminator(discriminator, facts.shape, classes))
        _tried(report, ("objective",), lambda: check_plugins(spec.objective, latent, discriminator, facts.shape, classes))
    if generator is None or discriminator is None:
        return None
    _tried(report, ("discriminator",), lambda: own_parameters([generator, discriminator]))
    return generator, discriminator


def _tried(report: Report, path: SpecPath, action: Callable[[], T]) -> T | None:
    """The result, or None after a mistake of the user's, which is noted."""
    try:
        return action()
    except UsageError as error:
        report.findings.append(of_error(error, path))
    except GantrainError as error:
        report.findings.append(finding("source-unreadable", ("data", "source"), str(error)))
    return None


# ---------------------------------------------------------------- the nets at work


def _judge(subject: Subject, report: Report) -> None:
    for net in subject.nets.values():
        inputs = subject.inputs_of(net.role)
        for check in (ownership.hidden_variables, modes.frozen, modes.repeatable_forward):
            _add(report, subject, partial(check, net, inputs), net.role)
    for check in (outputs.generator_range, outputs.logits, ownership.updates, penalty.penalties):
        _add(report, subject, partial(check, subject))
    if not _named(report.findings, "component-fails"):
        _show(subject, report)


def _add(report: Report, subject: Subject, check: Callable[[], Iterable[Finding]], role: str = "plugins") -> None:
    """The findings of one check. What raises is a plugin's mistake where there is a plugin, else ours."""
    try:
        report.findings += list(check())
    except GantrainError:
        raise
    except Exception as error:
        if not subject.spec.plugins:
            raise
        message = f"a component fails in training: {in_words(error)}; correct the plugin"
        report.findings.append(finding("component-fails", role, message))


def _show(subject: Subject, report: Report) -> None:
    """Figures of the first batch, the layers, the costs of a step that was taken twice; and what they tell."""
    figures, found = outputs.side_by_side(subject)
    report.findings += found
    costs, tables = None, {role: resources.layer_table(subject, net) for role, net in subject.nets.items()}
    if not _named(report.findings, "gradient-none"):
        found, seconds = modes.repeated_step(subject)
        costs = resources.costs(subject, tables, seconds)
        report.findings += [*found, *resources.disk(subject, costs)]
    report.lines += showing.figure_lines(figures)
    for role, rows in tables.items():
        report.lines += showing.layer_lines(role, rows)
    report.lines += showing.cost_lines(costs) if costs is not None else []
    report.tree = showing.tree_of(figures, tables, costs)


def _named(findings: Iterable[Finding], rule: str) -> bool:
    return any(item.rule == rule for item in findings)
