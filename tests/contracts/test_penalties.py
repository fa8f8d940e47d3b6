"""Every registered penalty: the facts it declares, finite values in every precision, weights, state."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.interfaces import DiscriminatorOutput, PenaltyContext

NAMES = registry.names("penalty")
W = np.linspace(-1.0, 1.5, 8 * 8, dtype=np.float32)


def settings_of(name):
    row = registry.find("penalty", name)
    assert row is not None
    return row.settings()


def context_of(critic, seed=0, scale=1.0):
    random = np.random.default_rng(seed)
    real, fake = (tf.constant(random.normal(size=(6, 8, 8, 1)), tf.float32) for _ in range(2))
    outputs = (DiscriminatorOutput(critic(x)) for x in (real, fake))
    key = tf.constant([3, 5], tf.int64)
    return PenaltyContext(critic, real, fake, None, *outputs, key, scale=scale)


def linear(weight, dtype=tf.float32):
    return lambda x: tf.cast(tf.linalg.matvec(tf.reshape(tf.cast(x, dtype), [-1, 64]), tf.cast(weight, dtype)), tf.float32)


def value_and_gradient(name, weight, jit=False, dtype=tf.float32, scale=1.0):
    penalty, variable = registry.build(settings_of(name)), tf.Variable(weight)

    @tf.function(jit_compile=jit)
    def compute():
        with tf.GradientTape() as tape:
            total = tf.reduce_mean(penalty(context_of(linear(variable, dtype), scale=scale)))
        return total, tape.gradient(total, variable)

    total, gradient = compute()
    return float(total), gradient.numpy()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("jit", [False, True])
def test_it_gives_one_float32_number_per_example(name, jit):
    penalty, weight = registry.build(settings_of(name)), tf.constant(W)
    values = tf.function(lambda: penalty(context_of(linear(weight))), jit_compile=jit)()
    assert values.shape == (6,)
    assert values.dtype == tf.float32
    assert (values.numpy() >= 0).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
@pytest.mark.parametrize("jit", [False, True])
def test_at_a_critic_of_zeros_value_and_gradient_are_finite(name, dtype, jit):
    total, gradient = value_and_gradient(name, np.zeros_like(W), jit, dtype)
    assert np.isfinite(total)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_slope_counts_exactly_if_it_needs_second_derivatives(name):
    """A critic with a flat slope of any size, a constant, costs nothing but for penalties on outputs."""
    penalty = registry.build(settings_of(name))
    context = context_of(linear(tf.constant(W)))
    called = []

    def critic(x):
        called.append(x)
        return linear(tf.constant(W))(x)

    with tf.GradientTape() as tape:
        tape.watch(context.real)
        spied = PenaltyContext(critic, context.real, context.fake, None, context.real_output, context.fake_output, context.key)
        penalty(spied)
    differentiates = settings_of(name).needs_second_derivatives()
    assert bool(called) or not differentiates
    assert settings_of(name).limits_slope() == differentiates


@pytest.mark.parametrize("name", [name for name in NAMES if settings_of(name).needs_second_derivatives()])
def test_a_scale_of_the_inner_sum_changes_nothing(name):
    plain, scaled = (value_and_gradient(name, W, scale=scale) for scale in (1.0, 1024.0))
    assert scaled[0] == pytest.approx(plain[0], rel=1e-6)
    np.testing.assert_allclose(scaled[1], plain[1], rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_all_variables_it_creates_are_those_it_lists(name):
    created = []

    def record(make, **arguments):
        created.append(make(**arguments))
        return created[-1]

    with tf.variable_creator_scope(record):
        penalty = registry.build(settings_of(name))
        penalty(context_of(linear(tf.constant(W))))
    assert {id(variable) for variable in created} == {id(variable) for variable in getattr(penalty, "variables", {}).values()}
