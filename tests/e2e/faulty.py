"""A plugin of broken components: each is a mistake that people make. Copied beside the config of a test, never imported."""

# ruff: noqa: ARG002, ARG005  signatures are given

import keras
import numpy as np
import tensorflow as tf

from gantrain.aae_interfaces import EncoderOutput, EncoderSettings
from gantrain.history_interfaces import ModelSettings, WindowLossSettings
from gantrain.interfaces import DiscriminatorOutput, DiscriminatorSettings, GeneratorSettings, Loss, LossSettings, PenaltySettings
from gantrain.registry import register

DISCRIMINATORS = []  # one net may not lay hands on another
HIDDEN = keras.layers.Dense(8, name="hidden")
HIDDEN.build([None, 8])
SHARED = keras.layers.Dense(8, name="shared")
STRAY = tf.Variable(tf.ones([16]), name="stray")


class G(keras.Model):
    def __init__(self, fault, context):
        super().__init__(name="generator")
        self.fault = fault
        self.first = SHARED if fault == "shared" else keras.layers.Dense(8, name="first")
        self.norm = keras.layers.BatchNormalization(name="norm") if fault in ("frozen", "twice") else None
        self.last = keras.layers.Dense(16 if fault == "shape" else 64, name="last")
        self(tf.zeros([1, context.latent_size]))

    def call(self, x, labels=None, training=False):
        x = tf.nn.leaky_relu(self.first(x))
        x = HIDDEN(x) if self.fault == "lambda" else x
        if self.fault == "stop":
            x = tf.stop_gradient(x)
        if self.fault == "constant":
            x = tf.constant(np.asarray(x)) if tf.executing_eagerly() else x
        if self.fault == "nan":
            x = tf.math.log(x)
        if self.fault == "noise_in_training" and training:
            x = x + tf.random.normal(tf.shape(x))
        if self.fault == "numpy_in_training" and training:
            x = x + np.random.default_rng().normal()
        if self.fault == "meddles" and training:
            DISCRIMINATORS[-1].conv.kernel.assign(DISCRIMINATORS[-1].conv.kernel * 1.01)
        if self.fault == "zero":
            x = x * 0.0
        if self.fault == "noise":
            x = x + tf.random.normal(tf.shape(x))
        if self.fault == "numpy":
            x = x + np.random.default_rng().normal()
        if self.norm is not None:
            x = self.norm(x, training=training and self.fault != "frozen")
            x = self.norm(x, training=training) if self.fault == "twice" else x
        if self.fault == "raises" and training:
            raise KeyError("oops")
        x = self.last(x)
        if self.fault == "hidden":
            x = x * tf.tile(STRAY, [4])
        x = x if self.fault == "linear" else tf.sigmoid(x) if self.fault == "sigmoid" else tf.tanh(x)
        return tf.reshape(x, [-1, 8, x.shape[-1] // 8, 1])


@register("generator", "faulty", build=lambda settings, context: G(settings.fault, context))
class Generator(GeneratorSettings):
    """Broken as `fault` says, and silent about it."""

    fault: str = "none"

    def last_activation(self, data_range):
        return "tanh"


class D(keras.Model):
    def __init__(self, fault):
        super().__init__(name="discriminator")
        self.fault = fault
        self.conv = keras.layers.Conv2D(4, 3, padding="same", name="conv")
        self.down = keras.layers.Conv2D(4, 3, strides=2, padding="same", name="down")
        self.norm = keras.layers.BatchNormalization(name="norm") if fault == "frozen" else None
        self.first = SHARED if fault == "shared" else keras.layers.Dense(8, name="first")
        self.head = keras.layers.Dense(1, name="head")
        self(tf.zeros([1, 8, 8, 1]))
        DISCRIMINATORS.append(self)

    def call(self, x, labels=None, training=False):
        x = tf.nn.silu(self.conv(x))
        x = tf.image.resize(x, [12, 12]) if self.fault == "bilinear" else x
        x = tf.nn.silu(self.down(x))
        x = self.norm(x, training=False) if self.norm is not None else x
        x = tf.nn.silu(self.first(tf.reshape(x, [-1, x.shape[1] * x.shape[2] * 4])))
        if self.fault == "assigns" and training:
            self.conv.kernel.assign(self.conv.kernel * 1.01)
        if self.fault == "raises" and training:
            raise ValueError("no such mode")
        logits = self.head(x)
        logits = logits if self.fault == "shape" else logits[:, 0]
        return DiscriminatorOutput(tf.sigmoid(logits) if self.fault == "sigmoid" else logits)


@register("discriminator", "faulty", build=lambda settings, context: D(settings.fault))
class Discriminator(DiscriminatorSettings):
    """Broken as `fault` says, and silent about it."""

    fault: str = "none"


@register("loss", "always_nan")
class AlwaysNan(LossSettings):
    """The logarithm of what may be negative."""

    def build(self):
        return Loss(lambda real, fake: -tf.math.log(real) - tf.math.log(1.0 - fake), lambda real, fake: -fake)


@register("loss", "nan_on_data")
class NanOnData(LossSettings):
    """Finite for logits that differ, the root of 0 for a real batch whose logits are small."""

    def build(self):
        return Loss(lambda real, fake: tf.sqrt(tf.nn.relu(fake**2 - 0.06)) - real, lambda real, fake: -fake)


@register("penalty", "nan_norm")
class NanNorm(PenaltySettings):
    """A norm of 0, whose gradient is NaN."""

    def build(self):
        def penalty(context):
            return tf.norm(tf.reshape(context.critic(context.real) * 0.0, [-1, 1]), axis=1)

        return penalty


@register("penalty", "half_slope")
class HalfSlope(PenaltySettings):
    """A slope penalty that forgets to let its gradient through."""

    def build(self):
        def penalty(context):
            with tf.GradientTape() as tape:
                tape.watch(context.real)
                logits = context.critic(context.real)
            slope = tf.stop_gradient(tape.gradient(logits, context.real))
            return tf.reduce_sum(slope**2, axis=[1, 2, 3]) + 0.1 * logits

        return penalty


@register("loss", "random_margin")
class RandomMargin(LossSettings):
    """A margin drawn by NumPy."""

    def build(self):
        def margin():
            return np.random.default_rng().uniform()

        return Loss(lambda real, fake: tf.nn.relu(margin() - real) + tf.nn.relu(1.0 + fake), lambda real, fake: -fake)


@register("loss", "deaf")
class Deaf(LossSettings):
    """A generator's loss that does not read the fake logits."""

    def build(self):
        return Loss(lambda real, fake: fake - real, lambda real, fake: -real)


class Dense(keras.Model):
    """Of the encoder, and of the model of a history: x [B,...] -> [B,size]."""

    def __init__(self, fault, context, size, outputs):
        super().__init__(name="net")
        self.fault, self.outputs_of = fault, outputs
        self.first = SHARED if fault == "shared" else keras.layers.Dense(8, name="first")
        self.norm = keras.layers.BatchNormalization(name="norm") if fault in ("frozen", "twice") else None
        self.last = keras.layers.Dense(size + 1 if fault == "shape" else size, name="last")
        self(tf.zeros([1, *context.shape]))

    def call(self, x, training=False):
        x = tf.nn.silu(self.first(tf.reshape(x, [tf.shape(x)[0], int(np.prod(x.shape[1:]))])))
        x = HIDDEN(x) if self.fault == "lambda" else x
        x = tf.stop_gradient(x) if self.fault == "stop" else x
        x = tf.math.log(-x * x) if self.fault == "nan" else x
        if self.fault == "noise":
            x = x + np.random.default_rng().normal()
        if self.fault == "raises" and training:
            raise KeyError("oops")
        if self.norm is not None:
            x = self.norm(x, training=training and self.fault != "frozen")
            x = self.norm(x, training=training) if self.fault == "twice" else x
        return self.outputs_of(self.last(x))


@register("encoder", "faulty", build=lambda settings, context: Dense(settings.fault, context, context.latent_size, EncoderOutput))
class Encoder(EncoderSettings):
    """Broken as `fault` says, and silent about it."""

    fault: str = "none"


@register("model", "faulty", build=lambda settings, context: Dense(settings.fault, context, 3, lambda x: x))
class Model(ModelSettings):
    """Broken as `fault` says, and silent about it."""

    fault: str = "none"

    def output_size(self):
        return 3


@register("window_loss", "faulty")
class WindowLoss(WindowLossSettings):
    """Broken as `fault` says, and silent about it."""

    fault: str = "none"

    def build(self, context):
        faults = {
            "nan": lambda z, target: tf.sqrt(tf.reduce_sum(z, axis=1) - 1e3) + tf.reduce_sum(target, axis=1),
            "nan_on_data": lambda z, target: tf.reduce_sum(z**2, axis=1) + tf.math.log(target[:, 0] - 1e3),
            "deaf": lambda z, target: tf.reduce_sum(target, axis=1),
        }
        return faults[self.fault]
