"""All static rules together: what a spec says that cannot work, or hardly ever does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gantrain.interfaces import SourceFacts
from gantrain.spec import (
    rules_aae,
    rules_data,
    rules_history,
    rules_keeping,
    rules_nets,
    rules_objective,
    rules_output,
    rules_sizes,
    rules_training,
)
from gantrain.spec.deep_rules import DEEP_RULES
from gantrain.spec.problems import PARSE_RULES, Severity, SpecPath
from gantrain.spec.rule import RULES, UNKNOWN, Rule
from gantrain.spec.tasks import AnySpec
from gantrain.spec.words import did_you_mean

SUBJECTS = (
    rules_data,
    rules_nets,
    rules_training,
    rules_objective,
    rules_keeping,
    rules_aae,
    rules_history,
    rules_sizes,
    rules_output,
)  # importing a file registers its rules


@dataclass(frozen=True)
class Finding:
    """One thing a rule found; `path` is its place in the spec."""

    rule: str
    severity: Severity
    message: str
    path: SpecPath


def judge(spec: AnySpec, facts: SourceFacts | None) -> list[Finding]:
    """Findings of every rule; warnings and notes named in `ignore` are left out. Never raises."""
    found = [finding for rule in RULES.values() if spec.task in rule.tasks for finding in _findings(rule, spec, facts or UNKNOWN)]
    kept = [_despite_ignore(finding, spec) for finding in found if finding.severity == "error" or finding.rule not in spec.ignore]
    return [*kept, *_unknown_ignores(spec)]


def _despite_ignore(finding: Finding, spec: AnySpec) -> Finding:
    """An error stays one; whoever ignores it is told."""
    return replace(finding, message=f"{finding.message} (errors cannot be ignored)") if finding.rule in spec.ignore else finding


def _findings(rule: Rule, spec: AnySpec, facts: SourceFacts) -> list[Finding]:
    try:
        return [Finding(rule.name, rule.severity, message, path) for path, message in rule.judge(spec, facts)]
    except Exception as error:  # facts are declared by components, which may be a user's: name it, do not crash
        message = f"this rule cannot be judged: a component's facts raise {type(error).__name__}: {error}; correct that component"
        return [Finding(rule.name, "error", message, ())]


def _unknown_ignores(spec: AnySpec) -> Iterator[Finding]:
    known = (*RULES, *DEEP_RULES, *PARSE_RULES)
    for index, name in enumerate(spec.ignore):
        if name not in known:
            message = f"there is no rule named {name}; {did_you_mean(name, known)}"
            yield Finding("unknown-name", "error", message, ("ignore", index))
