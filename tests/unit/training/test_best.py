"""The best step by a score."""

from __future__ import annotations

import pytest

from gantrain.errors import UsageError
from gantrain.training.best import Best

SCORES = {10: 3.0, 20: 5.0, 30: float("nan"), 40: 5.0, 50: 4.0, 60: None}


@pytest.mark.parametrize(("higher", "step"), [(True, 20), (False, 10)])
def test_the_earlier_of_equal_scores_wins_and_what_is_not_finite_never_does(higher, step):
    best = Best("eval/x", higher)
    improved = [at for at, score in SCORES.items() if best.improves(at, {"eval/x": score})]
    assert best.best.step == step
    assert improved == ([10, 20] if higher else [10])
    again = Best("eval/x", higher)
    again.recall([{"step": at, "loss": 0.0} for at in SCORES] + [{"step": at, "eval/x": s} for at, s in SCORES.items()], SCORES)
    assert again.best == best.best


def test_a_score_whose_checkpoint_is_gone_does_not_count():
    best = Best("eval/x", True)
    best.recall([{"step": at, "eval/x": score} for at, score in SCORES.items()], [10, 50])
    assert best.best == (50, 4.0)
    assert str(best) == "best eval/x: 4 at step 50"


def test_a_score_that_the_data_has_not_is_named_with_those_it_has():
    with pytest.raises(UsageError, match=r"no score eval/fid; its scores are: eval/x"):
        Best("eval/fid", False).improves(10, {"eval/x": 1.0})
