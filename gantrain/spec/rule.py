"""What a static rule is. To add one: write one function with `@rule(name, severity)` in the rules_*.py file of its subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from gantrain.interfaces import SourceFacts
from gantrain.spec.problems import Severity, SpecPath
from gantrain.spec.tasks import SPECS

Said: TypeAlias = Iterator[tuple[SpecPath, str]]  # (place in the spec, message)
Judge: TypeAlias = Callable[[Any, SourceFacts], Said]  # the spec is that of one of its tasks

UNKNOWN = SourceFacts(shape=None, length=None)  # a source that cannot tell: rules that need it stay silent


@dataclass(frozen=True)
class Rule:
    """Holds for specs of its `tasks`. `judge` yields a place and a message for each thing it finds."""

    name: str
    severity: Severity
    judge: Judge
    tasks: tuple[str, ...]


GAN, AAE, HISTORY, ALL = ("gan",), ("aae",), ("history",), tuple(SPECS)
GAMES = (*GAN, *AAE)  # tasks with a discriminator
RULES: dict[str, Rule] = {}


def rule(name: str, severity: Severity, tasks: tuple[str, ...] = GAN) -> Callable[[Judge], Judge]:
    """Decorator: the function becomes the rule `name` of these tasks. Users write the name in `ignore`: it never changes."""

    def add(judge: Judge) -> Judge:
        assert name not in RULES, name
        RULES[name] = Rule(name, severity, judge, tasks)
        return judge

    return add
