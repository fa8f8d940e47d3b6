"""The order of indices: its law, its independence, its arithmetic."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tensorflow as tf

from gantrain.data.catalog import Digits
from gantrain.data.order import BUFFER_REST, BUFFER_SLOTS, Order, epoch_of, epoch_order, index_batches, key, permutation, position
from gantrain.errors import UsageError
from gantrain.spec.model import Data


def data(**changes) -> Data:
    return Data(**{"source": Digits(), "batch_size": 4, **changes})


def epochs(length: int, buffer: int, count: int, order: Order) -> np.ndarray:
    """Orders of the first epochs [count,N]."""
    draw = tf.function(lambda epoch: epoch_order(length, buffer, order, epoch))
    return np.stack([draw(tf.constant(epoch, tf.int64)).numpy() for epoch in range(count)])


def taken(settings: Data, batches: int, start: int = 0, length: int = 10, order: Order | None = None) -> list[list[int]]:
    dataset = index_batches(length, settings, order or Order(0), start)
    return [element["index"].tolist() for element in dataset.take(batches).as_numpy_iterator()]


@pytest.mark.parametrize("buffer", [1, 2, 7, 19, 20, 1000])
def test_every_epoch_holds_every_example_once(buffer: int):
    assert (np.sort(epochs(20, buffer, 10, Order(0)), axis=1) == np.arange(20)).all()


def test_a_full_shuffle_puts_every_example_everywhere_equally_often():
    orders = epochs(12, 12, 1200, Order(5))
    counts = np.stack([(orders == example).sum(axis=0) for example in range(12)])  # [example, place], 100 expected
    chi2, freedom = ((counts - 100) ** 2 / 100).sum(), 11 * 11
    assert abs(chi2 - freedom) < 4 * np.sqrt(2 * freedom)


def test_consecutive_epochs_have_nothing_in_common_and_no_order_comes_twice():
    orders = epochs(100, 100, 600, Order(5))
    assert len(np.unique(orders, axis=0)) == 600
    correlations = [np.corrcoef(first, second)[0, 1] for first, second in itertools.pairwise(orders)]
    assert abs(np.mean(correlations)) < 4 / np.sqrt(100 * 599)


def test_a_shuffle_buffer_gives_what_one_gives_that_is_stepped_through():
    length, buffer, order, epoch = 50, 7, Order(3), tf.constant(2, tf.int64)
    slots = tf.random.stateless_uniform(
        [length - buffer], key(order, BUFFER_SLOTS, epoch), 0, buffer, tf.int64, alg="philox"
    ).numpy()
    held, out = list(range(buffer)), []
    for step, slot in enumerate(slots):
        out.append(held[slot])
        held[slot] = buffer + step
    out += [held[slot] for slot in permutation(buffer, key(order, BUFFER_REST, epoch)).numpy()]
    assert epoch_order(length, buffer, order, epoch).numpy().tolist() == out


def test_a_shuffle_buffer_moves_examples_as_far_as_dataset_shuffle_does():
    ours = np.abs(epochs(300, 40, 150, Order(1)) - np.arange(300)).mean(axis=1)
    shuffled = tf.data.Dataset.range(300).shuffle(40, seed=1).repeat(150).batch(300)
    theirs = np.abs(np.stack(list(shuffled.as_numpy_iterator())) - np.arange(300)).mean(axis=1)
    assert abs(ours.mean() - theirs.mean()) < 4 * np.hypot(ours.std(), theirs.std()) / np.sqrt(150)


@pytest.mark.parametrize("buffer", [7, 20])
def test_seed_attempt_and_epoch_each_change_the_order(buffer: int):
    first, other_seed, other_attempt = (epochs(20, buffer, 2, order) for order in (Order(0), Order(1), Order(0, 1)))
    orders = np.concatenate([first, other_seed, other_attempt])
    assert len(np.unique(orders, axis=0)) == 6


def test_the_seed_of_tensorflow_has_no_part_in_it():
    found = []
    for seed in (1, 2):
        tf.random.set_seed(seed)
        found.append(taken(data(shuffle_buffer=5), 6))
    assert found[0] == found[1]


def test_continue_runs_batches_across_epochs():
    flat = np.concatenate(taken(data(), 10))
    assert (np.sort(flat.reshape(4, 10), axis=1) == np.arange(10)).all()


def test_a_batch_may_be_larger_than_the_data():
    flat = np.concatenate(taken(data(batch_size=25), 2))
    assert (np.sort(flat.reshape(5, 10), axis=1) == np.arange(10)).all()


def test_partial_ends_each_epoch_with_a_smaller_batch():
    batches = taken(data(epoch_end="partial"), 6)
    assert [len(batch) for batch in batches] == [4, 4, 2, 4, 4, 2]
    assert sorted(itertools.chain(*batches[:3])) == sorted(itertools.chain(*batches[3:])) == list(range(10))


def test_drop_leaves_out_the_rest_which_is_another_one_each_epoch():
    batches = taken(data(epoch_end="drop"), 20)
    assert {len(batch) for batch in batches} == {4}
    rests = [set(range(10)) - set(batches[2 * epoch] + batches[2 * epoch + 1]) for epoch in range(10)]
    assert {len(rest) for rest in rests} == {2}
    assert len(set.union(*rests)) > 5


@pytest.mark.parametrize("epoch_end", ["continue", "partial", "drop"])
def test_a_distant_position_is_reached_at_once_and_is_consistent(epoch_end):
    far = 10**9
    assert taken(data(epoch_end=epoch_end), 3, far)[1:] == taken(data(epoch_end=epoch_end), 2, far + 1)


@pytest.mark.parametrize(
    ("epoch_end", "expected", "fraction"),
    [("continue", (2, 4), 2.4), ("partial", (2, 0), 2.0), ("drop", (3, 0), 3.0)],
)
def test_positions_by_hand(epoch_end, expected: tuple[int, int], fraction: float):
    assert position(10, data(epoch_end=epoch_end), 6) == expected  # 10 examples, batches of 4: number 6
    assert epoch_of(6, 10, data(epoch_end=epoch_end)) == pytest.approx(fraction)


def test_drop_with_a_batch_larger_than_the_data_is_refused_with_a_value_that_works():
    with pytest.raises(UsageError, match=r"batch_size 4 is larger than the data \(3 examples\).* at most 3"):
        index_batches(3, data(epoch_end="drop"), Order(0), 0)
