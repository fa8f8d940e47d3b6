"""One update: which gradients it refuses, which it blames, what it clips, and when it leaves everything as it was."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.errors import UsageError
from gantrain.training import catalog
from gantrain.training.update import Update
from tests.helpers import snapshot

GOOD = ([3.0, 0.0], [[4.0]])
YES, NO = tf.constant(True), tf.constant(False)


def made(clip_norm=None, constraints=(), settings=None):
    variables = {"net/kernel": tf.Variable([1.0, 2.0]), "net/bias": tf.Variable([[3.0]])}
    optimizer = registry.build(settings or catalog.Sgd(learning_rate=1.0), variables)
    return Update("generator", variables, optimizer, 1.0, clip_norm, constraints), variables, optimizer


def run(update, gradients=GOOD, loss=1.0, gate=YES, graph=True):
    call = tf.function(update.run, autograph=False) if graph else update.run
    return call(tf.constant(loss), [None if item is None else tf.constant(item) for item in gradients], gate)


def test_a_finite_update_is_applied_and_tells_the_norm_before_clipping():
    update, variables, _ = made()
    outcome = run(update)
    assert bool(outcome.fine)
    assert float(outcome.norm) == 5.0
    assert int(outcome.blamed) == -1
    np.testing.assert_array_equal(variables["net/kernel"], [-2.0, 2.0])
    np.testing.assert_array_equal(variables["net/bias"], [[-1.0]])


@pytest.mark.parametrize(("clip", "factor"), [(10.0, 1.0), (5.0, 1.0), (1.0, 0.2), (0.05, 0.01)])
def test_clip_norm_scales_all_gradients_by_one_factor(clip, factor):
    update, variables, _ = made(clip)
    assert float(run(update).norm) == 5.0
    np.testing.assert_allclose(1.0 - variables["net/kernel"].numpy()[0], 3.0 * factor, rtol=1e-5)
    np.testing.assert_allclose(3.0 - variables["net/bias"].numpy()[0, 0], 4.0 * factor, rtol=1e-5)


@pytest.mark.parametrize("clip", [None, 1.0])
@pytest.mark.parametrize(
    ("loss", "gradients", "blamed"),
    [
        (np.nan, GOOD, "loss/generator"),
        (np.inf, GOOD, "loss/generator"),
        (1.0, ([np.nan, 0.0], [[4.0]]), "gradient of net/kernel"),
        (1.0, ([3.0, 0.0], [[-np.inf]]), "gradient of net/bias"),
        (1.0, ([np.inf, 0.0], [[np.nan]]), "gradient of net/kernel"),
        (1.0, ([3e38, 3e38], [[3e38]]), "gradient norm of generator"),
    ],
)
def test_what_is_not_finite_is_blamed_by_name_and_nothing_is_applied(clip, loss, gradients, blamed):
    settings = catalog.Adam()
    update, variables, optimizer = made(clip, settings=settings)
    before = snapshot({**variables, **optimizer.variables})
    outcome = run(update, gradients, loss)
    assert not bool(outcome.fine)
    assert update.suspects[int(outcome.blamed)] == blamed
    assert snapshot({**variables, **optimizer.variables}) == before


@pytest.mark.parametrize("loss", [1.0, np.nan])
def test_a_closed_gate_applies_nothing_and_blames_nobody(loss):
    update, variables, optimizer = made(constraints=(lambda own: own[0].assign([9.0, 9.0]),))
    before = snapshot({**variables, **optimizer.variables})
    outcome = run(update, loss=loss, gate=NO)
    assert not bool(outcome.fine)
    assert int(outcome.blamed) == -1
    assert snapshot({**variables, **optimizer.variables}) == before


@pytest.mark.parametrize("graph", [True, False])
def test_a_missing_gradient_is_the_users_error_and_names_the_variable(graph):
    update, variables, _ = made()
    with pytest.raises(UsageError, match=r"generator's loss gives no gradient to net/bias:"):
        run(update, ([3.0, 0.0], None), graph=graph)
    np.testing.assert_array_equal(variables["net/kernel"], [1.0, 2.0])


def test_constraints_see_the_variables_after_the_update():
    seen = []

    def constraint(own):
        seen.append(own[0].read_value())
        own[0].assign(tf.clip_by_value(own[0], -0.5, 0.5))

    update, variables, _ = made(constraints=(constraint,))
    run(update, graph=False)
    np.testing.assert_array_equal(seen[0], [-2.0, 2.0])
    np.testing.assert_array_equal(variables["net/kernel"], [-0.5, 0.5])


@pytest.mark.parametrize("clip", [None, 1.0])
@pytest.mark.parametrize("settings", [catalog.Adam(), catalog.Sgd(learning_rate=1.0)])
def test_the_sparse_gradient_of_an_embedding_is_as_good_as_its_dense_form(clip, settings):
    results = []
    for dense in (True, False):
        variables = {"net/table": tf.Variable([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])}
        update = Update("generator", variables, registry.build(settings, variables), 1.0, clip)
        outcome = tf.function(lambda update=update, dense=dense: update.run(tf.constant(1.0), [_embedding(dense)], YES))()
        results.append((variables["net/table"].numpy().tobytes(), float(outcome.norm)))
    assert results[0] == results[1]


def _embedding(dense):
    """[3,2]: the third row was looked up twice."""
    slices = tf.IndexedSlices(tf.constant([[3.0, 0.0], [0.0, 4.0]]), tf.constant([2, 2]), tf.constant([3, 2]))
    return tf.convert_to_tensor([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]]) if dense else slices
