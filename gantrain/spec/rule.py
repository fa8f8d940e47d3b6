"""What a static rule is. To add one: write one function with `@rule(name, severity)` in the rules_*.py file of its subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from gantrain.interfaces import SourceFacts
from gantrain.spec.model import Spec
from gantrain.spec.problems import Severity, SpecPath

Said: TypeAlias = Iterator[tuple[SpecPath, str]]  # (place in the spec, message)
Judge: TypeAlias = Callable[[Spec, SourceFacts], Said]

UNKNOWN = SourceFacts(shape=None, length=None)  # a source that cannot tell: rules that need it stay silent


@dataclass(frozen=True)
class Rule:
    """`judge` yields a place and a message for each thing it finds."""

    name: str
    severity: Severity
    judge: Judge


RULES: dict[str, Rule] = {}


def rule(name: str, severity: Severity) -> Callable[[Judge], Judge]:
    """Decorator: the function becomes the rule `name`. The name is what users write in `ignore` and never changes."""

    def add(judge: Judge) -> Judge:
        assert name not in RULES, name
        RULES[name] = Rule(name, severity, judge)
        return judge

    return add
