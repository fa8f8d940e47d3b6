"""Every registered generator and discriminator: what it declares is what its builder makes.

A new net is covered by being registered.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable

import keras
import numpy as np
import pytest
import tensorflow as tf

from gantrain.errors import UsageError
from gantrain.interfaces import DiscriminatorSettings, GeneratorSettings
from gantrain.models import blocks, sngan_resnet
from gantrain.models.spectral import SpectralNorm
from tests.contracts.nets import (
    ALL,
    BATCH,
    COSTLY,
    NORMS,
    RANGES,
    SHAPES,
    SMALL,
    build,
    context_of,
    default_net,
    defaults,
    inputs,
    labels,
    numbers,
    variants,
)


@pytest.mark.parametrize("settings", defaults())
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_net_is_built_or_refused_exactly_as_buildable_says_and_has_the_declared_output(settings, shape):
    reason = settings.buildable(shape)
    if reason is not None:
        with pytest.raises(UsageError) as error:
            build(settings, context_of(shape))
        assert reason in str(error.value)
        return
    output = numbers(default_net(settings, shape)(inputs(settings, shape), labels(), training=False))
    assert output.dtype == tf.float32
    assert output.shape == ((BATCH, *shape) if isinstance(settings, GeneratorSettings) else (BATCH,))
    assert np.isfinite(output.numpy()).all()


@pytest.mark.parametrize("settings", defaults())
@pytest.mark.parametrize("shape", [(37, 37, 3), (2, 50, 1), (7, 7, 2), (1, 1, 1)], ids=str)
def test_odd_sizes_are_built_or_refused_as_buildable_says(settings, shape):
    if settings.buildable(shape) is None:
        assert numbers(build(settings, context_of(shape))(inputs(settings, shape), labels())).shape[0] == BATCH
    else:
        with pytest.raises(UsageError, match="sizes that work"):
            build(settings, context_of(shape))


@pytest.mark.parametrize("settings", COSTLY)
def test_all_variables_made_while_building_belong_to_the_net_and_calling_makes_no_more(settings):
    made: list[tf.Variable] = []

    def record(next_creator: Callable, **arguments) -> tf.Variable:
        made.append(next_creator(**arguments))
        return made[-1]

    with tf.variable_creator_scope(record):
        net = build(settings, context_of(SMALL))
        known = {id(variable.value) for variable in net.variables}
        for training in (False, True):
            net(inputs(settings, SMALL), labels(), training=training)
    assert known
    assert {id(variable) for variable in made} == known


@pytest.mark.parametrize("settings", COSTLY)
def test_the_same_seed_gives_the_same_paths_weights_and_outputs(settings):
    first, second = build(settings, context_of(SMALL)), build(settings, context_of(SMALL))
    paths = [variable.path for variable in first.variables]
    role = "generator" if isinstance(settings, GeneratorSettings) else "discriminator"
    assert all(path.split("/")[0] == role for path in paths)
    assert len(set(paths)) == len(paths)
    assert paths == [variable.path for variable in second.variables]
    assert all(np.array_equal(a, b) for a, b in zip(first.get_weights(), second.get_weights(), strict=True))
    outputs = [numbers(net(inputs(settings, SMALL), labels(), training=True)).numpy() for net in (first, second)]
    assert np.array_equal(*outputs)


@pytest.mark.parametrize("settings", ALL)
def test_every_trainable_variable_gets_a_finite_gradient_that_is_not_all_zero(settings):
    net = default_net(settings, SMALL)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.square(numbers(net(inputs(settings, SMALL), labels(), training=True)) - 0.3))
    gradients = tape.gradient(total, [variable.value for variable in net.trainable_variables])
    for variable, gradient in zip(net.trainable_variables, gradients, strict=True):
        assert gradient is not None, variable.path
        assert not isinstance(gradient, tf.IndexedSlices), variable.path
        assert np.isfinite(gradient.numpy()).all(), variable.path
        assert np.any(gradient.numpy() != 0), variable.path


@pytest.mark.parametrize("settings", ALL)
def test_norms_are_those_of_the_layers_inside(settings):
    kinds = [type(layer).__name__.lower() for layer in default_net(settings, SMALL)._flatten_layers()]
    assert settings.norms() == {norm for norm in NORMS if any(norm.replace("_", "") in kind for kind in kinds)}


@pytest.mark.parametrize("settings", ALL)
def test_labels_change_the_output_exactly_if_the_net_says_it_reads_them(settings):
    net, x = default_net(settings, SMALL), inputs(settings, SMALL)
    one, other = (numbers(net(x, tf.fill([BATCH], tf.constant(value, tf.int64)))).numpy() for value in (0, 2))
    names_classes = len(one.shape) == 2 and isinstance(settings, DiscriminatorSettings)  # reads them in its loss only
    assert (not np.array_equal(one, other)) == (settings.uses_labels() and not names_classes)
    if settings.uses_labels():
        with pytest.raises(UsageError, match="needs labels"):
            build(settings, context_of(SMALL, num_classes=None))
        with contextlib.nullcontext() if names_classes else pytest.raises(UsageError, match="without labels"):
            net(x)
    else:
        assert np.array_equal(one, numbers(net(x)).numpy())


@pytest.mark.parametrize(
    ("settings", "data_range"),
    [
        pytest.param(*case.values, data_range, id=f"{case.id}-{data_range}")
        for case in variants("generator", only="activation")
        for data_range in (RANGES if "default" in str(case.id) else RANGES[1:2])
    ],
)
def test_outputs_of_large_weights_show_the_declared_last_activation(settings: GeneratorSettings, data_range):
    net = build(settings, context_of(SMALL, data_range=data_range))
    for variable in net.trainable_variables:
        if len(variable.shape) > 1:
            variable.assign(variable * 30.0)
    assert _looks_like(net(inputs(settings, SMALL), labels()).numpy()) == settings.last_activation(data_range)


def _looks_like(outputs: np.ndarray) -> str:
    low, high = outputs.min(), outputs.max()
    if high > 1.0:
        return "linear" if low < 0 else "relu"
    assert high > 0.99
    return "tanh" if -1.0 <= low < -0.99 else "sigmoid" if 0 <= low < 0.01 else "unknown"


@pytest.mark.parametrize("settings", variants("discriminator", only="default"))
def test_logits_of_large_weights_show_the_declared_last_activation(settings: DiscriminatorSettings):
    net = build(settings, context_of(SMALL))
    for variable in net.trainable_variables:
        if len(variable.shape) > 1:
            variable.assign(variable * 30.0)
    x = inputs(settings, SMALL)
    logits = np.concatenate([net(sign * x, labels()).logits.numpy() for sign in (1.0, -1.0, 3.0, 0.01)])
    assert settings.last_activation() == "linear"
    assert np.abs(logits).max() > 1.0


@pytest.mark.parametrize("settings", ALL)
def test_only_training_moves_batch_statistics_and_once_per_call(settings):
    net, x = build(settings, context_of(SMALL)), inputs(settings, SMALL)
    moving = [variable for variable in net.non_trainable_variables if "moving_" in variable.path]
    assert bool(moving) == ("batch_norm" in settings.norms())
    history = [[variable.numpy() for variable in moving]]
    for training in (False, True, True):
        net(x, labels(), training=training)
        history.append([variable.numpy() for variable in moving])
    for start, inference, once, twice in zip(*history, strict=True):
        assert np.array_equal(start, inference)
        assert not np.array_equal(start, once)
        np.testing.assert_allclose(twice - once, settings.norm_momentum * (once - start), rtol=1e-3, atol=2e-6)


@pytest.mark.parametrize("settings", COSTLY)
def test_a_compiled_mixed_precision_step_gives_float32_outputs_near_those_of_float32(settings):
    nets = [build(settings, context_of(SMALL, dtype=dtype)) for dtype in ("float32", "mixed_bfloat16")]
    assert all(variable.dtype == "float32" for variable in nets[1].trainable_variables)
    x = tf.cast(inputs(settings, SMALL), tf.float64)  # cast on entry
    exact, mixed = (tf.function(lambda x, y, net=net: numbers(net(x, y, training=True)))(x, labels()) for net in nets)
    assert mixed.dtype == tf.float32
    scale = float(tf.math.reduce_std(exact)) + 0.02
    assert float(tf.reduce_mean(tf.abs(mixed - exact))) < 0.1 * scale


@pytest.mark.parametrize(
    "settings", [case for case in COSTLY if "conditioning" in case.id] + [case for case in ALL if "conditioning" not in case.id]
)
def test_second_derivatives_are_right_exactly_if_the_net_says_so(settings, monkeypatch):
    """d/dw of a gradient penalty against its difference quotient. Activations are made smooth: kinks make the quotient jump."""
    monkeypatch.setattr(sngan_resnet, "relu", tf.nn.softplus)
    monkeypatch.setattr(blocks, "leaky_relu", lambda x, slope: slope * x + (1 - slope) * tf.nn.softplus(x))
    net = build(settings, context_of(SMALL))
    _converge(net)
    weights, x = [variable.value for variable in net.trainable_variables], inputs(settings, SMALL)
    penalty = functools.partial(_slope_penalty, net, x)
    with tf.GradientTape() as tape:
        value = penalty()
    gradients = tape.gradient(value, weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    direction = [gradient / tf.linalg.global_norm(gradients) for gradient in gradients]
    expected = float(tf.linalg.global_norm(gradients))
    width = min(8e-3, 0.02 * float(value) / expected)  # where the penalty is steep, a short way
    wide, narrow = (_slope_along(penalty, weights, direction, part) for part in (width, width / 2))
    quotient = (4 * narrow - wide) / 3  # Richardson: without the error of second order
    assert (abs(quotient - expected) < 2e-3 * expected) == settings.twice_differentiable()


def _converge(net: keras.Model) -> None:
    """Spectral norms: their vectors become the singular ones, where sigma's derivative by the kernel is exact."""
    for layer in net._flatten_layers():
        if isinstance(layer, SpectralNorm):
            layer.singular_vector.assign(np.linalg.svd(layer._matrix().numpy(), full_matrices=False)[2][0])


def _norm_squared(gradient: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(tf.reduce_sum(tf.square(gradient), axis=list(range(1, len(gradient.shape)))))


def _slope_penalty(net: keras.Model, x: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(numbers(net(x, labels(), training=True)))
    return _norm_squared(tape.gradient(total, x))


def _slope_along(function: Callable[[], tf.Tensor], weights: list, direction: list, width: float) -> float:
    values = []
    for step in (width, -2 * width):
        for weight, part in zip(weights, direction, strict=True):
            weight.assign_add(step * part)
        values.append(float(function()))
    for weight, part in zip(weights, direction, strict=True):
        weight.assign_add(width * part)
    assert all(math.isfinite(value) for value in values)
    return (values[0] - values[1]) / (2 * width)
