"""The range transform is exact at both ends and for all 256 levels."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain.data.transforms import RangeTransform
from gantrain.errors import DivergedError, UsageError

BYTES = (0.0, 255.0)
LEVELS = np.arange(256, dtype=np.uint8)


def in_dataset(transform: RangeTransform, values: np.ndarray) -> np.ndarray:
    """Forward as training computes it, after all rewrites of the graph."""
    return next(iter(tf.data.Dataset.from_tensors(values).map(transform.forward))).numpy()


@pytest.mark.parametrize("target", [(-1.0, 1.0), (0.0, 1.0), (-0.5, 3.0)])
@pytest.mark.parametrize("compute", [in_dataset, lambda transform, values: transform.forward(tf.constant(values)).numpy()])
def test_all_256_levels_survive_the_round_trip_and_the_ends_are_exact(target, compute):
    transform = RangeTransform(BYTES, target)
    seen = compute(transform, LEVELS)
    assert (seen.dtype, seen[0], seen[255]) == (np.float32, *target)
    assert np.allclose(seen, np.interp(LEVELS, [0, 255], target), atol=1e-6)
    assert (np.diff(seen) > 0).all()
    assert (transform.to_uint8(seen) == LEVELS).all()
    assert np.allclose(transform.inverse(seen), LEVELS, atol=1e-4)


@pytest.mark.parametrize("target", [(-1.0, 1.0), (0.0, 1.0), (-0.5, 3.0), (-0.1, 0.7), None])
@pytest.mark.parametrize("source", [BYTES, (0.0, 65535.0), (-3.3, 70000.1)])
def test_numpy_computes_the_bits_that_the_graph_computes(source, target):
    transform = RangeTransform(source, target)
    for values in (LEVELS, np.linspace(*source, 70_001, dtype=np.float32)):
        assert (transform.forward_array(values[:, None]) == in_dataset(transform, values[:, None])).all()


def test_values_outside_are_clipped_before_the_cast():
    transform, values = RangeTransform(BYTES, (-1, 1)), np.array([-1.5, -1.001, 1.0, 1.2])
    assert transform.to_uint8(values).tolist() == [0, 0, 255, 255]
    assert transform.inverse(values)[3] == pytest.approx(280.5)  # in source units, not clipped


def test_a_level_is_rounded_to_the_nearest():
    step = 2 / 255
    assert RangeTransform(BYTES, (-1, 1)).to_uint8(np.array([-1 + 0.49 * step, -1 + 0.51 * step])).tolist() == [0, 1]


def test_pictures_of_another_range_become_bytes_all_the_same():
    transform = RangeTransform((0.0, 16.0), (-1.0, 1.0))
    assert transform.to_uint8(np.array([-1.0, 0.0, 1.0])).tolist() == [0, 128, 255]
    assert transform.inverse(np.array([-1.0, 0.0, 1.0])).tolist() == [0, 8, 16]


def test_without_a_target_values_pass_as_they_are():
    transform, values = RangeTransform(BYTES, None), np.array([0.0, 17.0, 255.0], np.float32)
    assert (in_dataset(transform, values.astype(np.uint8)) == values).all()
    assert (transform.inverse(values) == values).all()
    assert transform.to_uint8(values).tolist() == [0, 17, 255]


def test_vectors_pass_as_they_are_and_are_no_pictures():
    transform, values = RangeTransform(None, None), np.array([-1e9, 3.5], np.float32)
    assert (in_dataset(transform, values) == values).all()
    assert (transform.inverse(values) == values).all()
    with pytest.raises(UsageError, match="not pictures"):
        transform.to_uint8(values)


def test_a_target_for_values_without_bounds_is_refused():
    with pytest.raises(UsageError, match="write range: null"):
        RangeTransform(None, (-1, 1))


@pytest.mark.parametrize("method", ["inverse", "to_uint8"])
def test_values_that_are_not_finite_are_an_error(method: str):
    with pytest.raises(DivergedError, match="2 of 3 generated values are not finite"):
        getattr(RangeTransform(BYTES, (-1, 1)), method)(np.array([0.0, np.nan, np.inf]))
