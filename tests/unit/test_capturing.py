"""`gantrain.capture` on real Keras models."""

from __future__ import annotations

import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

import gantrain
from gantrain.errors import UsageError

LATENTS = np.random.default_rng(0).normal(size=(6, 4)).astype("float32")
ONES = np.ones([6, 1], "float32")


def generator(dtype: str = "float32") -> keras.Model:
    layers = [
        keras.Input((4,)),
        keras.layers.Dense(5, "relu", dtype=dtype),
        keras.layers.Dense(3, "tanh", dtype=dtype, name="out"),
    ]
    return keras.Sequential(layers, name="generator")


def stacked(dtype: str = "float32", **compiled) -> keras.Model:
    keras.utils.set_random_seed(1)
    judge = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, dtype=dtype)], name="discriminator")
    judge.trainable = False
    model = keras.Sequential([keras.Input((4,)), generator(dtype), judge])
    optimizer = keras.optimizers.SGD(0.1)
    if dtype == "mixed_float16":
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    model.compile(optimizer, keras.losses.BinaryCrossentropy(from_logits=True), **compiled)
    return model


class Gan(keras.Model):
    """A user's own step: two networks, two optimizers."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = generator()
        self.judge = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])

    def train_step(self, data):
        z, real, _ = keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            fake = self.generator(z, training=True)
            loss = tf.reduce_mean(tf.nn.softplus(self.judge(real)) + tf.nn.softplus(-self.judge(fake)))
        gradients = tape.gradient(loss, self.generator.trainable_variables)
        self.optimizer.apply(gradients, self.generator.trainable_variables)
        return {"loss": loss}


class CompiledGan(Gan):
    """The same step with a tf.function around it, which decides by a tensor."""

    @tf.function
    def train_step(self, data):
        z, _, _ = keras.utils.unpack_x_y_sample_weight(data)
        fake = self.generator(z, training=True)
        loss = tf.reduce_sum(fake) * 0.0
        if loss > 1.0:  # autograph's
            loss += 1.0
        return {"loss": loss}


def expected(layer: keras.Model, latents: np.ndarray = LATENTS) -> np.ndarray:
    """What a compiled forward with the present weights gives."""
    return tf.function(lambda x: layer(x, training=True))(tf.constant(latents)).numpy()


def same(first: np.ndarray, second: np.ndarray) -> bool:
    return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16", "mixed_float16"])
def test_the_fakes_of_a_stacked_model_are_those_of_that_very_step(dtype: str):
    model = stacked(dtype)
    with gantrain.capture(model) as tap:
        for _ in range(3):
            before = expected(model.layers[0])
            model.train_on_batch(LATENTS, ONES)
            assert same(tap.numpy(), before)
            assert not same(expected(model.layers[0]), before)  # the weights have moved since


def test_training_with_and_without_capture_gives_the_same_weights_and_losses():
    plain, watched = stacked(), stacked()
    losses = [plain.train_on_batch(LATENTS, ONES) for _ in range(3)]
    with gantrain.capture(watched):
        seen = [watched.train_on_batch(LATENTS, ONES) for _ in range(3)]
    assert losses == seen
    for one, other in zip(plain.get_weights(), watched.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_bare_generator_and_any_layer_of_it():
    model = generator()
    model.compile("sgd", "mse")
    hidden = keras.Model(model.inputs, model.layers[0].output)
    with gantrain.capture(model) as whole, gantrain.capture(model, layer=model.layers[0]) as inner:
        both = expected(model), expected(hidden)
        model.train_on_batch(LATENTS, np.zeros([6, 3], "float32"))
    assert same(whole.numpy(), both[0])
    assert same(inner.numpy(), both[1])


@pytest.mark.parametrize("kind", [Gan, CompiledGan])
def test_a_users_own_train_step(kind: type[Gan]):
    model = kind()
    model.compile(keras.optimizers.SGD(0.1))
    with gantrain.capture(model) as tap:
        before = expected(model.generator)
        model.train_on_batch(LATENTS, np.zeros([6, 3], "float32"))
        assert same(tap.numpy(), before)


def test_a_layer_is_found_by_its_name():
    model = stacked()
    with gantrain.capture(model, layer="out") as tap:
        before = expected(model.layers[0])
        model.train_on_batch(LATENTS, ONES)
    assert same(tap.numpy(), before)
    with pytest.raises(UsageError, match="no layers named 'nothing'"), gantrain.capture(model, layer="nothing"):
        pass


def test_xla_and_eager_steps_and_changing_batches():
    for compiled in ({"jit_compile": True}, {"run_eagerly": True}):
        model = stacked(**compiled)
        with gantrain.capture(model) as tap:
            for count in (6, 4):
                before = expected(model.layers[0])[:count]
                model.train_on_batch(LATENTS[:count], ONES[:count])
                np.testing.assert_allclose(tap.numpy(), before, rtol=0, atol=1e-6)  # another kernel's rounding


def test_after_several_steps_in_one_call_the_tap_holds_the_last():
    model = stacked(steps_per_execution=2)
    data = tf.data.Dataset.from_tensor_slices((np.concatenate([LATENTS, LATENTS + 1]), np.concatenate([ONES, ONES]))).batch(6)
    with gantrain.capture(model) as tap:
        model.fit(data, epochs=1, shuffle=False, verbose=0)
    follower = stacked()
    follower.train_on_batch(LATENTS, ONES)
    assert same(tap.numpy(), expected(follower.layers[0], LATENTS + 1))


def test_the_model_is_as_it_was_afterwards():
    model = stacked()
    model.train_on_batch(LATENTS, ONES)
    attributes, function = set(model.__dict__), model.train_function
    inner = set(model.layers[0].__dict__)

    def broken() -> None:
        with gantrain.capture(model), gantrain.capture(model, layer="out"):
            model.train_on_batch(LATENTS, ONES)
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        broken()
    assert (set(model.__dict__), model.train_function) == (attributes, function)
    assert set(model.layers[0].__dict__) == inner
    assert set(model.train_on_batch(LATENTS, ONES, return_dict=True)) == {"loss"}


def test_a_model_compiled_inside_the_block_keeps_its_new_step():
    model = stacked()
    model.train_on_batch(LATENTS, ONES)
    with gantrain.capture(model) as tap:
        model.compile(keras.optimizers.SGD(0.0), "mse")
        model.train_on_batch(LATENTS, ONES)
        assert tap.numpy().shape == (6, 3)
    weights = model.get_weights()
    model.train_on_batch(LATENTS, ONES)  # with the new learning rate, 0
    for one, other in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


REPLICAS = """
import keras, numpy as np, tensorflow as tf
import gantrain
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
reduction = tf.distribute.ReductionToOneDevice()
with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"], cross_device_ops=reduction).scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "tanh", dtype="mixed_bfloat16")])
    model.compile("sgd", "mse")
x = np.random.default_rng(0).normal(size=(12, 4)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, x[:, :3])).batch(12)
with gantrain.capture(model) as tap:
    before = tf.function(lambda batch: model(batch))(x).numpy()
    model.fit(data, shuffle=False, verbose=0)
assert tap.numpy().tobytes() == before.tobytes()
assert len(set(tap.numpy()[:, 0].astype("float32"))) > 6  # real numbers, not one repeated
"""


@pytest.mark.slow
def test_of_several_replicas_the_outputs_come_one_after_the_other():
    done = subprocess.run([sys.executable, "-c", REPLICAS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_what_cannot_be_captured_is_said():
    model = stacked()
    with gantrain.capture(model) as tap, pytest.raises(UsageError, match="no step was taken yet"):
        tap.numpy()
    with gantrain.capture(model, layer=keras.layers.Dense(1)), pytest.raises(UsageError, match="does not call"):
        model.train_on_batch(LATENTS, ONES)
    three = keras.Sequential([keras.Input((4,)), generator(), keras.Sequential([keras.layers.Dense(2)]), keras.layers.Dense(1)])
    with pytest.raises(UsageError, match="pass the layer"), gantrain.capture(three):
        pass


def test_importing_gantrain_does_not_import_tensorflow():
    code = "import gantrain, sys; assert 'tensorflow' not in sys.modules; assert 'capture' in gantrain.__all__"
    subprocess.run([sys.executable, "-c", code], check=True)
