"""Rules about which checkpoints are kept."""

# ruff: noqa: ARG001  every rule takes the spec and the facts

from __future__ import annotations

from gantrain.interfaces import SourceFacts
from gantrain.spec.model import Spec
from gantrain.spec.rule import ALL, Said, rule


@rule("best-by-loss", "error", ALL)
def best_by_loss(spec: Spec, facts: SourceFacts) -> Said:
    """What may rank checkpoints."""
    best = spec.output.keep_best
    if best is not None and not best.metric.startswith("eval/"):
        yield (
            ("output", "keep_best", "metric"),
            f"{best.metric} does not rank checkpoints: the losses of a GAN measure its two networks against each other, a lower "
            "one is no better picture; write a score, eval/...",
        )


@rule("best-never-scored", "error", ALL)
def best_never_scored(spec: Spec, facts: SourceFacts) -> Said:
    """Without scores no checkpoint is the best one."""
    if spec.output.keep_best is not None and spec.output.evaluate_every is None:
        yield ("output", "keep_best"), "no score is ever computed: evaluate_every is null; write evaluate_every: 1000"
