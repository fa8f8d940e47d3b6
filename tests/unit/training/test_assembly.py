"""What cannot be put together is refused by name."""

from __future__ import annotations

import pytest

from gantrain.errors import UsageError
from gantrain.training import assembly
from tests.helpers import tiny_experiment


@pytest.mark.parametrize(
    ("changes", "named"), [({"replay": {"size": 4}}, "replay"), ({"objective": {"penalties": ["r1", "lecam"]}}, "lecam")]
)
def test_an_experiment_says_which_of_its_parts_have_such_a_state(monkeypatch, changes, named):
    told = []
    monkeypatch.setattr(assembly, "require_one_replica", told.append)
    tiny_experiment(changes)
    assert told == [[named]]


@pytest.mark.parametrize("stateful", [["replay"], ["lecam"], ["replay", "lecam"]])
def test_a_state_that_replicas_would_each_move_is_refused_by_name(monkeypatch, stateful):
    assembly.require_one_replica(stateful)
    monkeypatch.setattr(assembly, "replicas", lambda: 2)
    with pytest.raises(UsageError, match=rf"^{', '.join(stateful)}: its state depends on the whole batch, which 2 replicas"):
        assembly.require_one_replica(stateful)
    assembly.require_one_replica([])


def test_a_step_on_replicas_is_not_compiled_by_xla(monkeypatch):
    assembly.require_jit_possible(True)
    monkeypatch.setattr(assembly, "replicas", lambda: 2)
    assembly.require_jit_possible(False)
    with pytest.raises(UsageError, match=r"^training.jit: a step on 2 replicas"):
        assembly.require_jit_possible(True)
