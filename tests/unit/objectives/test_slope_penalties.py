"""Penalties on the slope: closed forms at a linear critic, finite differences at a curved one, in every precision."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.interfaces import DiscriminatorOutput, PenaltyContext
from gantrain.objectives import catalog
from gantrain.objectives.slope_penalties import norm, per_example_uniform, slope

W = np.array([3.0, 4.0], np.float32)  # |w| = 5
FORMS = {  # value and gradient by w at D(x) = w.x, independent of x
    "r1": (catalog.R1(), 12.5, W),
    "r2": (catalog.R2(), 12.5, W),
    "gradient_penalty": (catalog.GradientPenalty(), 16.0, 2 * 4 * W / 5),
    "gradient_penalty_target": (catalog.GradientPenalty(target=7.0), 4.0, 2 * -2 * W / 5),
    "gradient_penalty_one_sided": (catalog.GradientPenalty(target=7.0, one_sided=True), 0.0, 0 * W),
    "dragan": (catalog.Dragan(), 16.0, 2 * 4 * W / 5),
}


def context_of(critic, examples=5, **more):
    random = np.random.default_rng(0)
    real, fake = (tf.constant(random.normal(size=(examples, 2)), tf.float32) for _ in range(2))
    nothing = DiscriminatorOutput(tf.zeros([examples]))
    return PenaltyContext(critic, real, fake, None, nothing, nothing, tf.constant([1, 2], tf.int64), **more)


def computed(settings, critic_of, weight, jit):
    penalty, variable = registry.build(settings), tf.Variable(weight)

    @tf.function(jit_compile=jit)
    def compute():
        with tf.GradientTape() as tape:
            values = penalty(context_of(critic_of(variable)))
            total = tf.reduce_mean(values)
        return values, tape.gradient(total, variable)

    values, gradient = compute()
    return values.numpy(), gradient.numpy()


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
@pytest.mark.parametrize("form", FORMS)
def test_a_linear_critic_has_the_closed_form(form, dtype, jit):
    settings, value, gradient = FORMS[form]
    linear = lambda w: lambda x: tf.cast(tf.linalg.matvec(tf.cast(x, dtype), tf.cast(w, dtype)), tf.float32)  # noqa: E731
    values, found = computed(settings, linear, W, jit)
    np.testing.assert_allclose(values, value, rtol=1e-6)  # 3 and 4 are exact in bfloat16
    np.testing.assert_allclose(found, gradient, rtol=1e-6 if dtype == tf.float32 else 1e-2)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("form", [form for form in FORMS if "target" not in form])
def test_a_curved_critic_has_the_gradient_of_finite_differences(form, jit):
    settings = FORMS[form][0]
    curved = lambda w: lambda x: tf.reduce_sum(tf.sin(x * w) + tf.square(x) * w, axis=-1)  # noqa: E731
    _, gradient = computed(settings, curved, W / 5, jit)
    width = 1e-2
    for index in range(2):
        step = width * np.eye(2, dtype=np.float32)[index]
        up, down = (computed(settings, curved, W / 5 + sign * step, jit)[0].mean() for sign in (1, -1))
        assert gradient[index] == pytest.approx((up - down) / (2 * width), rel=2e-3)


def test_r1_looks_at_real_r2_at_fake_examples_with_their_own_critic():
    asked = {}

    def critic(name):
        def call(x):
            asked[name] = x
            return tf.reduce_sum(x, axis=-1)

        return call

    context = context_of(critic("real"), fake_critic=critic("fake"))
    registry.build(catalog.R1())(context)
    registry.build(catalog.R2())(context)
    np.testing.assert_array_equal(asked["real"], context.real)
    np.testing.assert_array_equal(asked["fake"], context.fake)


def test_the_gradient_penalty_looks_between_each_pair_with_a_share_of_its_own():
    asked = []
    context = context_of(lambda x: asked.append(x) or tf.reduce_sum(x, axis=-1), examples=200)
    registry.build(catalog.GradientPenalty())(context)
    shares = (asked[0] - context.fake) / (context.real - context.fake)
    np.testing.assert_allclose(shares[:, 0], shares[:, 1], atol=1e-3)  # one per example
    assert 0 <= shares.numpy().min() < 0.05
    assert 0.95 < shares.numpy().max() <= 1.001


def test_dragan_disturbs_by_up_to_half_a_deviation():
    asked = []
    context = context_of(lambda x: asked.append(x) or tf.reduce_sum(x, axis=-1), examples=200)
    registry.build(catalog.Dragan())(context)
    moved = ((asked[0] - context.real) / np.std(context.real)).numpy()
    assert 0 <= moved.min() < 0.01
    assert 0.49 < moved.max() <= 0.5


def test_the_norm_of_nothing_has_a_zero_derivative_and_small_norms_an_exact_one():
    x = tf.Variable([[0.0, 0.0], [3e-15, 4e-15], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        total = norm(tf.convert_to_tensor(x))
    np.testing.assert_allclose(total, [0.0, 5e-15, 5.0], rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(total, x), [[0, 0], [0.6, 0.8], [0.6, 0.8]], rtol=1e-6)


def test_draws_of_micro_batches_are_the_rows_of_the_whole_batch():
    whole = per_example_uniform(context_of(None, examples=6), [2])
    parts = [per_example_uniform(context_of(None, examples=3, part=part, parts=2), [2]) for part in (0, 1)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


def test_the_slope_is_the_gradient_of_each_logit_by_its_own_example():
    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    np.testing.assert_allclose(slope(lambda x: x[:, 0] ** 2 * x[:, 1], x), [[4.0, 1.0], [-6.0, 9.0]], rtol=1e-6)
