"""pydantic's errors -> problems in plain words: what is wrong, where, what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gantrain.spec.fields import Found, find_slot, settings_class
from gantrain.spec.plain import as_mapping, at_path
from gantrain.spec.positions import Positions
from gantrain.spec.problems import Problem, SpecPath, dotted, problem_at
from gantrain.spec.tasks import SPECS
from gantrain.spec.wanted import wanted
from gantrain.spec.words import did_you_mean, shown

_RANGE_TYPES = ("greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number", "too_short", "too_long")
_TEXT_RANGE_TYPES = ("string_pattern_mismatch", "string_too_long", "string_too_short")


@dataclass(frozen=True)
class _Case:
    """One error of pydantic with the place in the tree it is about."""

    error: ErrorDetails
    found: Found

    @property
    def path(self) -> SpecPath:
        return self.found.path

    @property
    def kind(self) -> str:
        return self.error["type"]


def explain(error: ValidationError, root: type[BaseModel], tree: Any, positions: Positions) -> list[Problem]:
    """All problems of one validation; the several errors of a union become one."""
    cases = [_Case(item, find_slot(root, tree, item["loc"])) for item in error.errors(include_url=False)]
    problems = [_problem(case, root, tree, positions) for case in cases if not _hidden(case, cases)]
    return list({(problem.rule, problem.path): problem for problem in problems}.values())


def _hidden(case: _Case, cases: list[_Case]) -> bool:
    """A union's member that did not fit, while another member fits but for something inside."""
    if case.kind == "extra_forbidden" or not case.found.cut:
        return False
    return any(len(other.path) > len(case.path) and other.path[: len(case.path)] == case.path for other in cases)


def _problem(case: _Case, root: type[BaseModel], tree: Any, positions: Positions) -> Problem:
    if case.kind == "extra_forbidden":
        return _unknown_key(case, root, tree, positions)
    if case.kind == "missing" and isinstance(case.error["loc"][-1], str):
        message = f"{dotted(case.path)} is missing; write {wanted(case.found.slot)}"
        return problem_at(positions.of_value(case.path), "missing-key", message, case.path)
    if case.kind == "missing":  # a position in a list of fixed length
        case = _Case(case.error, find_slot(root, tree, case.error["loc"][:-1]))
    rule, message = _words(case)
    return problem_at(positions.of_value(case.path), rule, message, case.path)


def _unknown_key(case: _Case, root: type[BaseModel], tree: Any, positions: Positions) -> Problem:
    key = str(case.error["loc"][-1])
    parent = find_slot(root, tree, case.error["loc"][:-1])
    path = (*parent.path, key)
    cls = settings_class(parent.slot, at_path(tree, parent.path))
    known = list(cls.model_fields) if cls else []
    where = f"{dotted(parent.path)} has no key" if parent.path else "a spec has no key"
    hint = did_you_mean(key, known) if known else "it has no settings"
    return problem_at(
        positions.of_key(path), "unknown-key", f"{where} {key}{_other_tasks(root, tree, parent.path, key)}; {hint}", path
    )


def _other_tasks(root: type[BaseModel], tree: Any, parent: SpecPath, key: str) -> str:
    """Words for a key that only specs of other tasks have, at the top or one level below."""
    slots = {task: find_slot(spec, tree, parent).slot for task, spec in SPECS.items() if len(parent) <= 1}
    classes = {task: settings_class(slot, at_path(tree, parent)) for task, slot in slots.items()}
    others = [task for task, cls in classes.items() if cls is not None and key in cls.model_fields]
    own = next((task for task, spec in SPECS.items() if spec is root), None)
    return f" in task {own}, only in {' and '.join(others)}" if own and others and own not in others else ""


def _words(case: _Case) -> tuple[str, str]:
    """Rule and message."""
    name, value = dotted(case.path), case.error["input"]
    if case.kind in ("unknown-name", "component"):
        return _component_words(case)
    if case.kind == "component-number":
        return "out-of-range", f"{name} is {shown(value)}; write {wanted(case.found.slot)}"
    if case.kind == "value_error" and not _wants_boolean(case.found) and not isinstance(value, bool):
        return "out-of-range", f"{name}: {case.error['msg'].removeprefix('Value error, ')}"
    choices = _choices(case.found)
    if isinstance(value, str) and choices and case.kind != "finite_number":
        return "unknown-name", f"{name} is {value}; {_choose(value, choices, wanted(case.found.slot))}"
    rule = (
        "out-of-range"
        if case.kind in (*_RANGE_TYPES, *_TEXT_RANGE_TYPES) or (choices and not isinstance(value, dict | list))
        else "wrong-type"
    )
    if case.kind == "missing":
        return "wrong-type", f"{name} has too few values; write {wanted(case.found.slot)}"
    return rule, f"{name} is {shown(value)}; write {wanted(case.found.slot)}"


def _choose(value: str, choices: list[str], all_of_it: str) -> str:
    """`did you mean X? (X or Y)`; without a near one only what there is: `write X or Y`."""
    hint = did_you_mean(value, choices)
    return f"{hint} (it takes {all_of_it})" if hint.startswith("did you mean") else f"write {all_of_it}"


def _component_words(case: _Case) -> tuple[str, str]:
    if case.kind == "unknown-name":
        return "unknown-name", f"{dotted(case.path)}: {case.error['msg']}"
    value = as_mapping(case.error["input"])
    if value is not None and "name" not in value:
        return "missing-key", f"{dotted(case.path)} has no name; write {wanted(case.found.slot)}"
    return "wrong-type", f"{dotted(case.path)} is {shown(case.error['input'])}; write {wanted(case.found.slot)}"


def _wants_boolean(found: Found) -> bool:
    return any(member.annotation is bool for member in found.slot.alternatives())


def _choices(found: Found) -> list[str]:
    """The words that may stand here, where there are any."""
    members = found.slot.alternatives()
    return [
        choice
        for member in members
        if get_origin(member.annotation) is Literal
        for choice in get_args(member.annotation)
        if isinstance(choice, str)
    ]
