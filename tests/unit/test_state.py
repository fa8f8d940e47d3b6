"""Keys of the state: roles and layer names, the same however often and in whatever order nets are built."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from gantrain.errors import UsageError
from gantrain.state import net_variables, stable_paths, trainable_variables, unique


class Unnamed(keras.Model):
    """What a user writes who never heard of names."""

    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(3)
        self.drop = keras.layers.Dropout(0.5)
        self.norm = keras.layers.BatchNormalization()
        self.inner = [
            keras.layers.Dense(3),
            keras.Sequential([keras.layers.Dense(2), keras.layers.Dropout(0.1), keras.layers.Dense(2)]),
        ]
        self.free = self.add_weight(shape=(2,))
        self.freer = self.add_weight(shape=(3,))
        self(tf.zeros([1, 3]))

    def call(self, x, training=False):
        x = self.norm(self.drop(self.first(x), training=training), training=training)
        for layer in self.inner:
            x = layer(x)
        return x + self.free + self.freer[:2]


def functional():
    inputs = keras.Input([4])
    x = keras.layers.Dropout(0.5)(keras.layers.Dense(3)(inputs))
    return keras.Model(inputs, keras.layers.Dense(1)(keras.layers.Dense(3)(x)))


def sequential():
    return keras.Sequential([keras.Input([4]), keras.layers.Dense(3), keras.layers.Dropout(0.5), keras.layers.Dense(1)])


@pytest.mark.parametrize("build", [Unnamed, functional, sequential])
def test_building_again_in_one_process_gives_equal_keys(build):
    first = net_variables("generator", build())
    keras.layers.Dense(3).build([None, 3])
    build(), functional()
    again = net_variables("generator", build())
    assert list(again) == list(first)
    assert len(first) == len(build().variables)
    assert [value.shape for value in again.values()] == [value.shape for value in first.values()]
    assert all(key.startswith("generator/") for key in first)


def test_seed_states_of_dropout_are_among_the_variables_and_trainable_ones_are_a_part():
    net = Unnamed()
    everything, trainable = net_variables("d", net), trainable_variables("d", net)
    assert sum("seed" in key for key in everything) == 2
    assert len(trainable) == len(net.trainable_variables)
    assert {key: id(value) for key, value in trainable.items()}.items() <= {
        key: id(value) for key, value in everything.items()
    }.items()
    assert not [key for key in trainable if "moving" in key or "seed" in key]


def test_the_keys_are_the_variables_themselves_not_copies():
    net = sequential()
    key, variable = next(iter(net_variables("d", net).items()))
    variable.assign(tf.ones_like(variable) * 3)
    assert key == "d/dense/kernel"
    np.testing.assert_array_equal(net.variables[0].numpy(), np.full((4, 3), 3.0))


def test_automatic_numbers_are_counted_anew_inside_each_parent():
    paths = [
        "net/dense_7/kernel",
        "net/dense_7/bias",
        "net/dense_9/kernel",
        "net/a/dense_8/kernel",
        "net/b_2/dense/kernel",
        "net/own/kernel",
    ]
    assert stable_paths(paths, "net") == [
        "dense/kernel",
        "dense/bias",
        "dense_1/kernel",
        "a/dense/kernel",
        "b/dense/kernel",
        "own/kernel",
    ]


def test_explicit_numbers_stay_apart():
    stable = stable_paths(["n/s_3/k", "n/s_1/k", "n/s/k", "n/s_2/k"], "n")
    assert len(set(stable)) == 4


def test_two_variables_under_one_key_are_refused_by_the_key():
    with pytest.raises(UsageError, match="'a/kernel'"):
        unique([("a/kernel", 1), ("b/kernel", 2), ("a/kernel", 3)])
