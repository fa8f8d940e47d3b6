"""The windows against the plain loop over examples, for every unit, gradient, start, reset and batch, in value and gradient."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tensorflow as tf

from gantrain.training.history import NOWHERE, History, WindowForm
from gantrain.training.history_step import mean_over
from tests.unit.training.oracle import Plain

SIZE = 3
TOLERANCE = 1e-6  # of values of the order of one
WHOLE, RAGGED, ALONE = [8, 8, 8], [8, 8, 3, 8, 5], [1, 1, 1, 1]  # batches
PAIRS = [("sample", "newest"), ("sample", "window"), ("batch", "newest")]


def loss_of(z, target):
    """(Z . Z)^2 / 2 + target . Z, [b]."""
    return tf.square(tf.reduce_sum(z * z, axis=1)) / 2 + tf.reduce_sum(target * z, axis=1)


def sequences(reset, sizes):
    """Sequence numbers of each batch: one sequence; runs of 5 and of 2; or a change in every second slot."""
    numbers = np.arange(sum(sizes))
    table = {"never": 0 * numbers, "runs": numbers // 5 + numbers // 7, "slots": (numbers // 9) * (numbers % 2)}
    return np.split(table[reset], np.cumsum(sizes)[:-1])


def compiled(history):
    """(outputs, sequence, target, whether all count) -> (Z, loss, gradient), traced once for every batch size."""
    any_rows = tf.TensorSpec([None, history.form.size])
    target_rows = tf.TensorSpec([None, history.form.size * history.form.length])

    @tf.function(input_signature=[any_rows, tf.TensorSpec([None], tf.int64), target_rows, tf.TensorSpec([], tf.bool)])
    def step(outputs, sequence, target, all_count):
        with tf.GradientTape() as tape:
            tape.watch(outputs)
            look = history.look(outputs, sequence)
            loss = mean_over(loss_of(look.z, target), look.full | all_count)
        history.remember(look.memory, tf.constant(True))
        return look.z, loss, tape.gradient(loss, outputs)

    return step


def forget(history):
    for variable in history.variables.values():
        variable.assign(tf.zeros_like(variable))
    history.variables["sequence"].assign(tf.fill(history.variables["sequence"].shape, tf.constant(NOWHERE, tf.int64)))


@pytest.mark.parametrize("length", [1, 2, 4, 11])
@pytest.mark.parametrize(("unit", "gradient"), PAIRS)
def test_windows_losses_and_gradients_are_those_of_the_plain_loop(unit, gradient, length):
    rng = np.random.default_rng(3)
    history = History(WindowForm(length, SIZE, 8, unit, gradient))
    step = compiled(history)
    for start, reset, sizes in itertools.product(["zeros", "warm_up"], ["never", "runs", "slots"], [WHOLE, RAGGED, ALONE]):
        forget(history)
        plain = Plain(length, SIZE, unit, gradient, start)
        for count, sequence in zip(sizes, sequences(reset, sizes), strict=True):
            outputs = rng.uniform(-0.3, 0.3, [count, SIZE]).astype(np.float32)
            target = rng.uniform(-1, 1, [count, length * SIZE]).astype(np.float32)
            found = step(outputs, sequence, target, start == "zeros")
            for mine, wanted in zip(found, plain.batch(outputs.astype(np.float64), sequence, target), strict=True):
                np.testing.assert_allclose(mine, wanted, rtol=0, atol=TOLERANCE, err_msg=f"{start} {reset} {sizes}")
    assert step.experimental_get_tracing_count() == 1


def test_the_loop_of_the_oracle_has_the_gradient_of_its_own_loss():
    """By differences: the oracle itself must not be believed."""
    rng, step = np.random.default_rng(5), 1e-6
    outputs, target, one = rng.normal(size=[4, SIZE]), rng.normal(size=[4, 2 * SIZE]), np.zeros(4, int)
    gradient = Plain(2, SIZE, "sample", "window", "zeros").batch(outputs, one, target)[2]
    for index in np.ndindex(outputs.shape):
        moved = [outputs.copy(), outputs.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        up, down = (Plain(2, SIZE, "sample", "window", "zeros").batch(item, one, target)[1] for item in moved)
        assert gradient[index] == pytest.approx((up - down) / (2 * step), abs=1e-7)


def test_a_window_of_four_outputs_of_32_has_128_numbers_newest_first():
    history = History(WindowForm(4, 32, 32))
    outputs = tf.range(6.0)[:, None] * tf.ones([1, 32])
    z = history.look(outputs, tf.zeros([6], tf.int64)).z
    assert z.shape == (6, 128)
    assert z.numpy()[5, ::32].tolist() == [5, 4, 3, 2]
    assert z.numpy()[1, ::32].tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(("unit", "shape"), [("sample", (4, 3)), ("batch", (4, 8, 3))])
def test_the_state_is_the_last_outputs_and_only_remembering_moves_it(unit, shape):
    history = History(WindowForm(4, 3, 8, unit))
    assert history.variables["outputs"].shape == shape
    assert not any(variable.trainable for variable in history.variables.values())
    before = {key: variable.numpy().copy() for key, variable in history.variables.items()}
    look = history.look(tf.ones([8, 3]), tf.zeros([8], tf.int64))
    history.remember(look.memory, tf.constant(False))
    for key, variable in history.variables.items():
        np.testing.assert_array_equal(variable.numpy(), before[key])
    history.remember(look.memory, tf.constant(True))
    assert history.variables["outputs"].numpy()[0].sum() == (3 if unit == "sample" else 24)


def test_with_a_smaller_batch_the_other_slots_keep_their_history():
    history = History(WindowForm(3, 1, 4, "batch"))
    for value, count in [(1.0, 4), (2.0, 2), (3.0, 4)]:
        look = history.look(tf.fill([count, 1], value), tf.zeros([count], tf.int64))
        history.remember(look.memory, tf.constant(True))
    assert look.z.numpy().tolist() == [[3, 2, 1], [3, 2, 1], [3, 1, 0], [3, 1, 0]]
    assert look.full.numpy().tolist() == [True, True, False, False]
    assert history.variables["age"].numpy().tolist() == [3, 3, 2, 2]


def test_what_is_not_finite_in_another_sequence_does_not_reach_the_window_or_its_gradient():
    history = History(WindowForm(2, 1, 4, "sample", "window"))
    outputs = tf.Variable([[np.nan], [1.0], [2.0]])
    with tf.GradientTape() as tape:
        look = history.look(outputs * 1.0, tf.constant([0, 1, 1], tf.int64))
        loss = tf.reduce_sum(look.z[1:])
    assert look.z.numpy()[1:].tolist() == [[1, 0], [2, 1]]
    assert tape.gradient(loss, outputs).numpy().ravel().tolist() == [0, 2, 1]


def test_the_graph_is_as_large_for_a_large_batch_as_for_a_small_one():
    def operations(batch):
        step = compiled(History(WindowForm(4, 8, batch, "sample", "window")))
        made = step.python_function
        shapes = [
            tf.TensorSpec([batch, 8]),
            tf.TensorSpec([batch], tf.int64),
            tf.TensorSpec([batch, 32]),
            tf.TensorSpec([], tf.bool),
        ]
        return [item.type for item in tf.function(made).get_concrete_function(*shapes).graph.get_operations()]

    small, large = operations(16), operations(4096)
    assert small == large
    assert not {"While", "StatelessWhile", "PyFunc", "EagerPyFunc"} & set(large)
