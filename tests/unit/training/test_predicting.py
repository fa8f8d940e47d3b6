"""Windows of a trained network: those of the plain loop, whatever the batch, and their picture."""

# ruff: noqa: ARG005  models are called with fixed names

from __future__ import annotations

import numpy as np
import pytest

from gantrain.training.history import WindowForm
from gantrain.training.predicting import Predictor, as_picture
from tests.unit.training.oracle import Plain


@pytest.mark.parametrize("unit", ["sample", "batch"])
def test_windows_are_those_of_the_plain_loop_over_batches_as_in_training(unit):
    inputs = np.random.default_rng(0).normal(size=[11, 2]).astype(np.float32)
    ids = np.repeat([4, 9], [5, 6])
    found = Predictor(lambda x, training: 2.0 * x, WindowForm(3, 2, 4, unit), (2,)).predict(inputs, ids)
    np.testing.assert_array_equal(found.outputs, 2 * inputs)
    plain = Plain(3, 2, unit, "newest", "zeros")
    parts = [slice(0, 4), slice(4, 8), slice(8, 11)]
    expected = [plain.batch(2.0 * inputs[part], ids[part], np.zeros([len(ids[part]), 6]))[0] for part in parts]
    np.testing.assert_array_equal(found.z, np.concatenate(expected).astype(np.float32))


def test_each_prediction_starts_without_history_and_traces_nothing_anew():
    calls = []
    predictor = Predictor(lambda x, training: (calls.append(1), x)[1], WindowForm(2, 1, 3), (1,))
    first, second = predictor.predict(np.ones([5, 1])), predictor.predict(np.ones([4, 1]))
    assert first.z[0].tolist() == second.z[0].tolist() == [1, 0]
    assert len(calls) == 1


def test_a_picture_of_z_has_a_square_per_number_from_black_to_white():
    picture = as_picture(np.array([[0.0, 1.0], [2.0, 4.0]]), scale=2)
    assert (picture.shape, picture.dtype) == ((4, 4, 1), np.uint8)
    assert picture[::2, ::2, 0].tolist() == [[0, 64], [128, 255]]
    assert as_picture(np.zeros([2, 2])).max() == 0
