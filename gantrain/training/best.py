"""Which step has the best score so far. Read from the metrics, so that a resumed run knows what an uninterrupted one does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gantrain.errors import UsageError


class Scored(NamedTuple):
    """A step and its score."""

    step: int
    score: float


class Best:
    """The best step by `metric`; of equal scores the earlier one. Scores that are not finite never count."""

    def __init__(self, metric: str, higher: bool) -> None:
        self._metric = metric
        self._sign = 1.0 if higher else -1.0
        self.best: Scored | None = None

    def recall(self, records: Iterable[Mapping[str, Any]], steps: Iterable[int]) -> None:
        """Go through lines of metrics again; only steps whose checkpoints are still there count."""
        self.best = None
        there = set(steps)
        for record in records:
            if self._metric in record and record["step"] in there:
                self.improves(int(record["step"]), record)

    def improves(self, step: int, scores: Mapping[str, Any]) -> bool:
        """Take the scores of a step; whether it is the best one now. Raises UsageError if the metric is not among them."""
        if self._metric not in scores:
            names = ", ".join(scores) or "none"
            raise UsageError(f"output.keep_best: this data has no score {self._metric}; its scores are: {names}")
        score = scores[self._metric]
        if score is None or not math.isfinite(score):
            return False
        if self.best is None or self._sign * score > self._sign * self.best.score:
            self.best = Scored(step, float(score))
            return True
        return False

    def __str__(self) -> str:
        return "" if self.best is None else f"best {self._metric}: {self.best.score:g} at step {self.best.step}"
