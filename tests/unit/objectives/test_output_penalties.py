"""LeCam and consistency, regularisers and constraints, by hand."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.errors import UsageError
from gantrain.interfaces import DiscriminatorOutput, PenaltyContext
from gantrain.objectives import catalog
from gantrain.objectives.penalties import build_penalties, build_regulariser, penalty_state


def context_of(real_logits, fake_logits, real=None, critic=None):
    real = tf.zeros([len(real_logits), 2]) if real is None else real
    outputs = DiscriminatorOutput(tf.constant(real_logits)), DiscriminatorOutput(tf.constant(fake_logits))
    return PenaltyContext(critic, real, real, None, *outputs, tf.constant([1, 2], tf.int64))


def test_lecam_measures_logits_against_moving_averages_of_the_other_side():
    lecam = registry.build(catalog.LeCam(decay=0.5))
    np.testing.assert_allclose(lecam(context_of([4.0, 0.0], [-1.0, -3.0])), [(4 + 1) ** 2 + (1 + 1) ** 2, 1 + (1 + 3) ** 2])
    assert [float(value) for value in lecam.variables.values()] == [1.0, -1.0]
    lecam(context_of([3.0, 3.0], [1.0, 1.0]))
    assert [float(value) for value in lecam.variables.values()] == [2.0, 0.0]


def test_the_state_of_penalties_has_keys_by_their_place_in_the_list():
    penalties = build_penalties([catalog.R1(), catalog.LeCam()])
    assert list(penalty_state(penalties)) == ["penalty/1.lecam/average_real", "penalty/1.lecam/average_fake"]


def pictures(count=64):
    return tf.constant(np.random.default_rng(0).normal(size=(count, 8, 6, 2)), tf.float32)


def test_consistency_is_the_squared_change_of_the_logit():
    x = pictures()
    penalty = registry.build(catalog.Consistency(shift=2))
    values = penalty(context_of([1.0] * 64, [0.0] * 64, x, lambda _: tf.fill([64], 3.0)))
    np.testing.assert_allclose(values, 4.0)


def test_a_moved_picture_is_the_picture_mirrored_or_not_and_shifted_by_whole_pixels():
    x, seen = pictures(), []
    registry.build(catalog.Consistency(shift=2))(
        context_of([0.0] * 64, [0.0] * 64, x, lambda m: seen.append(m) or tf.zeros([64]))
    )
    mirrored, shifts = 0, set()
    for original, moved in zip(x.numpy(), seen[0].numpy(), strict=True):
        inner = moved[2:-2, 2:-2]
        found = [
            (flip, down, right)
            for flip, picture in ((0, original), (1, original[:, ::-1]))
            for down in range(-2, 3)
            for right in range(-2, 3)
            if np.allclose(np.roll(picture, (down, right), (0, 1))[2:-2, 2:-2], inner)
        ]
        assert len(found) == 1
        mirrored += found[0][0]
        shifts.add(found[0][1:])
    assert 20 < mirrored < 44
    assert len(shifts) > 15


def test_consistency_of_vectors_is_refused_by_name():
    with pytest.raises(UsageError, match="consistency: examples of shape"):
        registry.build(catalog.Consistency())(context_of([1.0], [1.0]))


def test_the_orthogonal_regulariser_sums_squared_products_of_different_filters():
    kernel, bias = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([5.0, 5.0])
    assert float(registry.build(catalog.Orthogonal())([kernel, bias])) == 2 * (1 * 2 + 3 * 4) ** 2
    total = build_regulariser([catalog.Orthogonal(weight=0.5), catalog.Orthogonal(weight=0.25)])
    assert float(total([kernel])) == 0.75 * 2 * 14**2
    assert build_regulariser([]) is None
    convolution = tf.Variable(tf.random.stateless_normal([3, 3, 4, 5], [0, 1]))
    flat = convolution.numpy().reshape(-1, 5)
    products = flat.T @ flat
    expected = np.square(products - np.diag(np.diag(products))).sum()
    assert float(registry.build(catalog.Orthogonal())([convolution])) == pytest.approx(expected, rel=1e-5)


def test_clip_weights_keeps_every_number_within_its_limit():
    variables = [tf.Variable([-1.0, 0.05, 0.2]), tf.Variable([[0.0, 9.0]])]
    registry.build(catalog.ClipWeights(limit=0.1))(variables)
    np.testing.assert_allclose(variables[0], [-0.1, 0.05, 0.1])
    np.testing.assert_allclose(variables[1], [[0.0, 0.1]])
