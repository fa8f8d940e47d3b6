"""What a plugin's net may do wrong is said before the first step, in words, and never as a traceback."""

# ruff: noqa: ARG002  the calls of a net have a fixed signature

from __future__ import annotations

import keras
import pytest
import tensorflow as tf

from gantrain.errors import UsageError
from gantrain.interfaces import DiscriminatorOutput
from gantrain.training.wiring import built, check_outputs


class Generator(keras.Model):
    def __init__(self, units=64):
        super().__init__(name="mine")
        self.dense = keras.layers.Dense(units)
        self(tf.zeros([1, 4]))

    def call(self, x, labels=None, training=False):
        return tf.reshape(self.dense(x), [-1, 8, self.dense.units // 8, 1])


class Discriminator(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self(tf.zeros([1, 8, 8, 1]))

    def output_of(self, logits):
        return DiscriminatorOutput(logits[:, 0])

    def call(self, x, labels=None, training=False):
        return self.output_of(self.dense(tf.reshape(x, [-1, 64])))


class TwoAxes(Discriminator):
    def output_of(self, logits):
        return DiscriminatorOutput(logits)


class PlainTensor(Discriminator):
    def output_of(self, logits):
        return logits[:, 0]


class Half(Generator):
    def call(self, x, labels=None, training=False):
        return tf.cast(super().call(x), tf.float16)


class Broken(Generator):
    def call(self, x, labels=None, training=False):
        if x.shape[0] == 2:
            raise KeyError("oops")
        return super().call(x)


class Unbuilt(keras.Model):
    def call(self, x, labels=None, training=False):
        return tf.zeros([2, 8, 8, 1])


class RawVariable(Generator):
    def __init__(self):
        super().__init__()
        self.counter = tf.Variable(0.0, name="counter")


def check(generator, discriminator):
    check_outputs(built("generator", generator), built("discriminator", discriminator), (8, 8, 1), 4, None)


def test_nets_of_the_promised_form_pass():
    check(Generator, Discriminator)


@pytest.mark.parametrize(
    ("generator", "discriminator", "message"),
    [
        (lambda: Generator(128), Discriminator, r"generator gives \[2, 8, 16, 1\] float32 .* must give \[2, 8, 8, 1\] float32"),
        (Half, Discriminator, r"generator gives \[2, 8, 8, 1\] float16"),
        (Broken, Discriminator, r"generator fails on inputs \[2, 4\].*oops"),
        (Generator, TwoAxes, r"discriminator gives \[2, 1\] float32 .* must give \[2\] float32"),
        (Generator, PlainTensor, "must give a DiscriminatorOutput"),
        (Unbuilt, Discriminator, "generator has no trainable variable"),
        (RawVariable, Discriminator, "generator makes the variable counter.* outside of Keras' weights"),
    ],
)
def test_each_mistake_is_the_users_and_says_what_came_and_what_must(generator, discriminator, message):
    with pytest.raises(UsageError, match=message):
        check(generator, discriminator)
