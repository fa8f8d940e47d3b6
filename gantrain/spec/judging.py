"""The static rules, applied to what was read: findings with positions, also for a spec that has other problems."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gantrain.errors import DataError
from gantrain.interfaces import SourceFacts, SourceSettings
from gantrain.spec import rules
from gantrain.spec.aae import AaeSpec
from gantrain.spec.loading import LoadedTree
from gantrain.spec.plain import as_mapping, at_path
from gantrain.spec.positions import Positions
from gantrain.spec.problems import Problem, SpecPath, dotted, problem_at
from gantrain.spec.tasks import AnySpec, spec_class


def judged(
    spec: AnySpec | None, loaded: LoadedTree, problems: list[Problem], base_dir: Path
) -> tuple[list[Problem], SourceFacts | None]:
    """Findings of the static rules. A spec with problems is judged without the keys they are about, if that is possible."""
    bad = [problem.path for problem in problems]
    subject = spec or _salvaged(loaded.tree, bad)
    if subject is None:
        return [], None
    facts, unreadable = peek(subject, base_dir, loaded.positions)
    found = [located(finding, loaded.positions) for finding in rules.judge(subject, facts)]
    related = [problem for problem in found if not any(path[: len(problem.path)] == problem.path for path in bad)]
    return [*unreadable, *related], facts


def _salvaged(tree: Any, bad: list[SpecPath]) -> AnySpec | None:
    """The spec with the wrong keys left to their defaults, or None if it needs one of them."""
    rest = copy.deepcopy(tree)
    for path in bad:
        container = as_mapping(at_path(rest, path[:-1]))
        if path and container is not None:
            container.pop(str(path[-1]), None)
    try:
        return spec_class(rest).model_validate(rest)
    except ValidationError:
        return None


def located(finding: rules.Finding, positions: Positions) -> Problem:
    """A finding with the place it was written at."""
    return problem_at(positions.of_cause(finding.path), finding.rule, finding.message, finding.path, finding.severity)


def peek(spec: AnySpec, base_dir: Path, positions: Positions) -> tuple[SourceFacts | None, list[Problem]]:
    """What the source says of itself without decoding; what stops it, or the one held out, is a problem at its place."""
    facts, problems = _peeked(spec.data.source, base_dir, ("data", "source"), positions)
    held_out = spec.data.held_out if isinstance(spec, AaeSpec) else None
    return facts, problems if held_out is None else [*problems, *_peeked(held_out, base_dir, ("data", "held_out"), positions)[1]]


def _peeked(
    source: SourceSettings, base_dir: Path, path: SpecPath, positions: Positions
) -> tuple[SourceFacts | None, list[Problem]]:
    try:
        return source.peek(base_dir), []
    except NotImplementedError:  # a plugin's source may not know anything before it is loaded
        return None, []
    except (DataError, OSError) as error:
        message = str(error).replace("data.source", dotted(path))
    except Exception as error:  # a plugin's bug must not look like ours
        message = f"the source failed with {type(error).__name__}: {error}"
    return None, [problem_at(positions.of_cause(path), "source-unreadable", message, path)]
