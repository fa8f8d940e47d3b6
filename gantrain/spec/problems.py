"""What is wrong with a spec, where, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gantrain.errors import DataError, UsageError

SpecPath: TypeAlias = tuple[str | int, ...]
Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

# Names of what loading and parsing find; those of static rules are in rule.RULES. Never rename one: users write it in `ignore`.
PARSE_RULES = (
    "yaml-syntax",
    "duplicate-key",
    "unknown-key",
    "unknown-name",
    "missing-key",
    "wrong-type",
    "out-of-range",
    "plugin",
    "source-unreadable",
)


@dataclass(frozen=True)
class Place:
    """Where a value was written: a file with line and column (from 1), or the text of a `--set` without them."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


@dataclass(frozen=True)
class Problem:
    """One finding. `path` is the place in the tree, such as ("data", "batch_size")."""

    rule: str
    severity: Severity
    message: str
    file: str
    line: int | None = None
    column: int | None = None
    path: SpecPath = ()

    @property
    def place(self) -> Place:
        """File, line and column together."""
        return Place(self.file, self.line, self.column)

    def __str__(self) -> str:
        return f"{self.place}: {self.severity} [{self.rule}]: {self.message}"


def problem_at(place: Place, rule: str, message: str, path: SpecPath = (), severity: Severity = "error") -> Problem:
    """A problem at a known place."""
    return Problem(rule, severity, message, place.file, place.line, place.column, path)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Errors, then warnings, then notes; in each by position, and `--set`, which has none, last. Equal ones are kept once."""
    unique = dict.fromkeys(problems)
    return sorted(
        unique,
        key=lambda problem: (SEVERITIES.index(problem.severity), problem.line is None, problem.line or 0, problem.column or 0),
    )


def dotted(path: SpecPath) -> str:
    """`data.batch_size`, the way a key is written after `--set`."""
    return ".".join(str(part) for part in path) or "the file"


class SpecError(UsageError):
    """A spec that cannot be used, with all its problems at once. Its exit code is 4 when only the data source is at fault."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = in_order(problems)
        errors = [problem for problem in self.problems if problem.severity == "error"]
        if errors and all(problem.rule == "source-unreadable" for problem in errors):
            self.exit_code = DataError.exit_code
        super().__init__("\n".join(str(problem) for problem in self.problems))
