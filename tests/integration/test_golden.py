"""Loss curves of the first five steps, kept in golden/loss_curves.json: equal bytes on one machine, rtol 1e-3 across machines.

After a change that is meant to change them, write them anew from the root of the repository, and look at the difference:

    python -m tests.integration.test_golden
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gantrain import registry
from gantrain.training.facts import FACTS
from tests.helpers import BATCH_NORM, tiny_experiment

GOLDEN = Path(__file__).parent / "golden" / "loss_curves.json"
STEPS = 5


def curves(loss):
    """{fact: [its value at steps 1..5]} of a small fixed spec with this loss."""
    experiment = tiny_experiment({**BATCH_NORM, "objective.loss": loss, "data.batch_size": 32}, started=True)
    lines = []
    for _ in range(STEPS):
        experiment.engine.run(1)
        lines.append(experiment.progress.means())
        experiment.progress.reset()
    return {fact: [line[fact] for line in lines] for fact in FACTS}


@pytest.mark.parametrize("loss", registry.names("loss"))
def test_the_first_steps_of_a_loss_are_those_that_were_kept(loss):
    kept = json.loads(GOLDEN.read_text())
    assert sorted(kept) == registry.names("loss")
    found = curves(loss)
    assert sorted(found) == sorted(kept[loss])
    for fact, values in kept[loss].items():
        np.testing.assert_allclose(found[fact], values, rtol=1e-3, atol=1e-5, err_msg=fact)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: curves(name) for name in registry.names("loss")}, indent=1) + "\n")
