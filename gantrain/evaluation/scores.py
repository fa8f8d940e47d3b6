"""Which scores a data source has. A new score: a function of samples in a file of its own, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from gantrain.data.catalog import GaussianMixture
from gantrain.data.gaussian_mixture import modes
from gantrain.evaluation.mode_coverage import mode_coverage
from gantrain.interfaces import SourceSettings

Score: TypeAlias = Callable[[np.ndarray], dict[str, float]]  # samples [N,*shape] in the units of the data -> name -> value

SAMPLES = 10_000


def score_for(settings: SourceSettings) -> Score | None:
    """The scores of samples of this source, or None if there are none. Names start with `eval/`."""
    if isinstance(settings, GaussianMixture):
        return lambda samples: _coverage(samples, settings)
    return None


def _coverage(samples: np.ndarray, settings: GaussianMixture) -> dict[str, float]:
    coverage = mode_coverage(samples, modes(settings), settings.std)
    return {"eval/mode_coverage": coverage.modes, "eval/high_quality": coverage.high_quality}
