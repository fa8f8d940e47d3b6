"""How often a step asks the discriminator: what a step costs."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tests.helpers import tiny_experiment

R1_AND_R2 = [{"name": "r1"}, {"name": "r2"}]
LAZY = [{**penalty, "every": 4} for penalty in R1_AND_R2]


@pytest.mark.parametrize(
    ("penalties", "forwards"), [([], 3), (R1_AND_R2, 3), (LAZY, 5), (["gradient_penalty"], 4)], ids=["none", "each", "lazy", "gp"]
)
def test_penalties_at_the_examples_themselves_need_no_forward_of_their_own(penalties, forwards):
    experiment = tiny_experiment({"objective": {"penalties": penalties}})
    step, seen = experiment.engine.step, []
    judge = step._judge._discriminate
    step._judge._discriminate = lambda x, labels: (seen.append(1), judge(x, labels))[1]
    tf.function(lambda: step([{"real": tf.zeros([8, 8, 8, 1])}], tf.constant(0, tf.int64))).get_concrete_function()
    assert len(seen) == forwards
