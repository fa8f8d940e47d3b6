"""`gantrain validate-config --deep`: open the data, build the nets, take one real step, and judge all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gantrain import registry
from gantrain.data.report import Report, report_of
from gantrain.errors import DataError, GantrainError, UsageError
from gantrain.interfaces import Source
from gantrain.spec.judging import located
from gantrain.spec.parse import LoadedSpec
from gantrain.spec.problems import Problem, in_order, problem_at
from gantrain.spec.rules import judge

# Errors that leave nothing that could be built, or no data to build it for.
UNBUILDABLE = frozenset(
    {
        "size-unbuildable",
        "labels-missing",
        "penalty-unfit",
        "augment-unfit",
        "steps-or-epochs",
        "zero-steps",
        "prior-size",
        "prior-labels-missing",
        "target-size",
        "targets-missing",
        "window-too-short",
        "range-unbounded",
    }
)


@dataclass(frozen=True)
class Judged:
    """All problems of both levels; the scan of the data; what deep checks saw, for people and for machines."""

    problems: list[Problem]
    scan: Report | None = None
    lines: Sequence[str] = ()
    tree: dict[str, Any] | None = None

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(problem.severity == "error" for problem in self.problems)


def judge_deeply(loaded: LoadedSpec, problems: list[Problem]) -> Judged:
    """Open the data (without TensorFlow), judge the spec again by what it is, then the nets; all findings are gathered."""
    from gantrain.data.source_facts import facts_of  # NumPy: the static level does without

    source, opened = _opened(loaded)
    found = [*problems, *opened]
    if source is not None:
        found += [located(item, loaded.positions) for item in judge(loaded.spec, facts_of(source))]
    scan = report_of(source) if source is not None else None
    if any(problem.rule in UNBUILDABLE and problem.severity == "error" for problem in found):
        return Judged(in_order(found), scan)
    from gantrain.startup import start_tensorflow

    start_tensorflow("auto")
    from gantrain.deepcheck.judging import deep_check
    from gantrain.deepcheck.stand_in import stand_in

    try:
        subject = source if source is not None else stand_in(loaded.spec, loaded.facts)
        judged = deep_check(loaded.spec, subject, source is not None)
    except DataError as error:  # nothing tells the shape: what is known already is all that can be said
        return Judged(in_order([*found, *([] if opened else [_unreadable(loaded, error)])]))
    found += [located(item, loaded.positions) for item in judged.findings]
    return Judged(in_order(found), scan, judged.lines, judged.tree)


def _opened(loaded: LoadedSpec) -> tuple[Source | None, list[Problem]]:
    from gantrain.cli.bar import scan_bar
    from gantrain.data.progress import watched

    try:
        with scan_bar(quiet=False) as watch, watched(watch):
            return registry.build(loaded.spec.data.source, loaded.base_dir), []
    except (DataError, UsageError) as error:
        return None, [_unreadable(loaded, error)]


def _unreadable(loaded: LoadedSpec, error: GantrainError) -> Problem:
    place = loaded.positions.of_cause(("data", "source"))
    return problem_at(place, "source-unreadable", str(error), ("data", "source"))
