"""Every rule in one table: what the README shows and a test compares."""

from __future__ import annotations

from gantrain.spec.deep_rules import DEEP_RULES
from gantrain.spec.rules import RULES  # from there, for importing that file registers them

# What reading the file finds, before any rule is asked; all are errors.
PARSE_WORDS = {
    "yaml-syntax": "The file is not YAML.",
    "duplicate-key": "A key is written twice.",
    "unknown-key": "There is no such setting.",
    "unknown-name": "There is no such component, choice or rule.",
    "missing-key": "A setting without a default is missing.",
    "wrong-type": "Another kind of value is wanted.",
    "out-of-range": "A value is too large, too small, or contradicts its neighbour.",
    "plugin": "A plugin is not found, not approved, or fails.",
    "source-unreadable": "The data cannot be read.",
}
ALSO_DEEP = ("logits-activation", "disk-space", "indivisible-batch", "batchnorm-small-batch")  # judged again on what was built


def rows() -> list[tuple[str, str, str, str]]:
    """(name, severity, level, meaning) of every rule, sorted by level and name."""
    parse = [(name, "error", "reading", words) for name, words in PARSE_WORDS.items()]
    static = [(rule.name, rule.severity, _level(rule.name), _first_line(rule.judge.__doc__)) for rule in RULES.values()]
    deep = [(name, severity, "deep", words) for name, (severity, words) in DEEP_RULES.items()]
    return [*sorted(parse), *sorted(static), *sorted(deep)]


def _level(name: str) -> str:
    return "static, deep" if name in ALSO_DEEP else "static"


def _first_line(text: str | None) -> str:
    return (text or "").strip().split("\n")[0]


def markdown() -> str:
    """The table as the README has it."""
    lines = ["| rule | severity | level | what it finds |", "|---|---|---|---|"]
    return "\n".join([*lines, *(f"| `{name}` | {severity} | {level} | {words} |" for name, severity, level, words in rows())])
