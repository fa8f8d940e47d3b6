"""Rules about which checkpoints are kept."""

# ruff: noqa: ARG001  every rule takes the spec and the facts

from __future__ import annotations

from gantrain.interfaces import SourceFacts
from gantrain.spec.aae import HELD_OUT_SCORE, AaeSpec
from gantrain.spec.history import HistorySpec
from gantrain.spec.rule import AAE, ALL, GAMES, Said, rule
from gantrain.spec.tasks import AnySpec


@rule("best-by-loss", "error", GAMES)
def best_by_loss(spec: AnySpec, facts: SourceFacts) -> Said:
    """What may rank checkpoints."""
    best = spec.output.keep_best
    if best is not None and not best.metric.startswith("eval/"):
        yield (
            ("output", "keep_best", "metric"),
            f"{best.metric} does not rank checkpoints: the losses of a GAN measure its two networks against each other, a lower "
            "one is no better picture; write a score, eval/...",
        )


@rule("best-never-scored", "error", ALL)
def best_never_scored(spec: AnySpec, facts: SourceFacts) -> Said:
    """Without scores no checkpoint is the best one."""
    if spec.output.keep_best is None:
        return
    if isinstance(spec, HistorySpec):
        yield ("output", "keep_best"), "task history has no scores that could rank checkpoints; write keep_best: null"
    elif spec.output.evaluate_every is None:
        yield ("output", "keep_best"), "no score is ever computed: evaluate_every is null; write evaluate_every: 1000"


@rule("best-unknown-score", "error", AAE)
def best_unknown_score(spec: AaeSpec, facts: SourceFacts) -> Said:
    """A score that this task does not compute."""
    best = spec.output.keep_best
    if best is not None and best.metric.startswith("eval/") and best.metric not in spec.scores:
        more = " (eval/held_out_mse needs data.held_out)" if best.metric == HELD_OUT_SCORE else ""
        yield ("output", "keep_best", "metric"), f"there is no score {best.metric}; write {', '.join(spec.scores)}{more}"
