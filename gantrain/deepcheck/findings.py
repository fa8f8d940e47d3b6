"""What deep checks say: findings with a place in the spec, and lines to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gantrain.errors import UsageError, WiringError
from gantrain.spec.deep_rules import DEEP_RULES
from gantrain.spec.problems import Severity, SpecPath
from gantrain.spec.rule import RULES
from gantrain.spec.rules import Finding


def finding(rule: str, path: SpecPath | str, message: str) -> Finding:
    """One finding of a rule that is in the tables; `path` may be dotted."""
    return Finding(rule, _severity(rule), message, tuple(path.split(".")) if isinstance(path, str) else path)


def _severity(rule: str) -> Severity:
    if rule in DEEP_RULES:
        return DEEP_RULES[rule][0]
    return RULES[rule].severity if rule in RULES else "error"


def of_error(error: UsageError, path: SpecPath | str) -> Finding:
    """What stopped a net or a component from being built."""
    if isinstance(error, WiringError):
        return finding(error.rule, error.role, error.message)
    return finding("component-fails", path, str(error))


@dataclass
class Report:
    """Everything said so far: `lines` for people, `tree` for machines."""

    findings: list[Finding] = field(default_factory=list[Finding])
    lines: list[str] = field(default_factory=list[str])
    tree: dict[str, Any] = field(default_factory=dict[str, Any])
