from __future__ import annotations

import math
from fractions import Fraction

import pytest

from gantrain.spec.arithmetic import batches_per_epoch, known_steps, total_steps


@pytest.mark.parametrize(
    ("epoch_end", "expected"),
    [("continue", math.ceil(Fraction(3 * 1000, 64 * 2))), ("partial", 3 * 16 // 2), ("drop", 3 * 15 // 2)],
)
def test_epochs_become_steps_by_the_law_of_each_epoch_end(spec_of, epoch_end, expected):
    spec = spec_of("pictures", training={"epochs": 3, "discriminator_steps": 2}, data__epoch_end=epoch_end)
    assert total_steps(spec, 1000) == expected


def test_one_example_more_than_whole_batches_is_one_more_step_only_where_batches_may_be_short(spec_of):
    steps = {
        end: [total_steps(spec_of("pictures", training={"epochs": 1}, data__epoch_end=end), n) for n in (128, 129)]
        for end in _ENDS
    }
    assert steps == {"continue": [2, 3], "partial": [2, 3], "drop": [2, 2]}


_ENDS = ("continue", "partial", "drop")


def test_given_steps_are_taken_as_they_are(spec_of):
    assert total_steps(spec_of("pictures", training__steps=17), 10**9) == 17


def test_batches_per_epoch_count_short_batches_only_for_partial(spec_of):
    counts = [batches_per_epoch(spec_of("pictures", data__epoch_end=end).data, 1000) for end in _ENDS]
    assert counts == [None, 16, 15]


def test_steps_stay_unknown_until_the_length_is_known(spec_of):
    by_epochs = spec_of("pictures", training={"epochs": 2})
    assert known_steps(by_epochs, None) is None
    assert known_steps(by_epochs, 640) == 20
    assert known_steps(spec_of("pictures"), None) == 2000


def test_long_runs_are_exact_where_floats_would_not_be(spec_of):
    spec = spec_of("pictures", training={"epochs": 10**6}, data={"source": {"name": "digits"}, "batch_size": 1})
    assert total_steps(spec, 10**12 + 1) == 10**18 + 10**6
