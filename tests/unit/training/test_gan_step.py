"""One training step against a re-implementation in float64 that shares no code with it."""

# ruff: noqa: ARG002  a stand-in keeps the signature

from __future__ import annotations

import itertools
import zlib

import numpy as np
import pytest
import tensorflow as tf

from gantrain.training.facts import FACTS
from tests.helpers import BATCH_NORM, changed, snapshot, tiny_experiment

EPSILON = 1.001e-5
MOMENTUM = 0.9
RATES = {"generator": 0.3, "discriminator": 0.2}
SGD = {f"optimizers.{role}": {"name": "sgd", "learning_rate": rate} for role, rate in RATES.items()}
PLANS = list(
    itertools.product(("alternating", "simultaneous"), ("shared", "fresh"), (1, 2), ("train", "inference"), ("batch_norm",))
)


class FixedDraws:
    """Latents that depend on the name of the stream alone; keeps which streams were asked for, in order."""

    def __init__(self):
        self.asked = []

    def latents(self, stream, step, count):
        self.asked.append(stream)
        return tf.constant(self.numbers(stream), tf.float32)

    @staticmethod
    def numbers(stream):
        return np.random.default_rng(zlib.crc32(stream.encode())).standard_normal((8, 4))

    def labels(self, stream, step, count, histogram):
        return None

    def key(self, stream, step):
        return tf.constant([0, 0], tf.int64)


class Reference:
    """Dense nets in float64 as plain dictionaries of numbers; statistics move only where the text of the step says so."""

    def __init__(self, experiment):
        self.values = {
            key: tf.constant(value.numpy(), tf.float64) for key, value in experiment.state.items() if value.dtype == tf.float32
        }
        self.trainable = {net.role: list(net.trainable) for net in (experiment.generator, experiment.discriminator)}

    def norm(self, x, prefix, training, move):
        values = self.values
        mean, variance = values[f"{prefix}/moving_mean"], values[f"{prefix}/moving_variance"]
        if training:
            batch_mean, batch_variance = tf.nn.moments(x, [0])
            if move:
                unbiased = batch_variance * 8 / 7
                values[f"{prefix}/moving_mean"] = MOMENTUM * mean + (1 - MOMENTUM) * tf.stop_gradient(batch_mean)
                values[f"{prefix}/moving_variance"] = MOMENTUM * variance + (1 - MOMENTUM) * tf.stop_gradient(unbiased)
            mean, variance = batch_mean, batch_variance
        return (x - mean) / tf.sqrt(variance + EPSILON) * values[f"{prefix}/gamma"] + values[f"{prefix}/beta"]

    def hidden(self, x, prefix, training, move):
        x = x @ self.values[f"{prefix}/dense/kernel"] + self.values.get(f"{prefix}/dense/bias", 0.0)
        if f"{prefix}/norm/gamma" in self.values:
            x = self.norm(x, f"{prefix}/norm", training, move)
        return tf.nn.relu(x)

    def generate(self, latents, training=True, move=False):
        x = self.hidden(tf.constant(latents, tf.float64), "generator/hidden1", training, move)
        return tf.tanh(x @ self.values["generator/out/kernel"] + self.values["generator/out/bias"])

    def judge(self, x, move):
        x = tf.reshape(x, [8, 64])
        for name in ("hidden1", "hidden2"):
            x = self.hidden(x, f"discriminator/{name}", True, move)
        return (x @ self.values["discriminator/head/kernel"] + self.values["discriminator/head/bias"])[:, 0]

    def gradients(self, role, loss):
        """Gradients of `loss()` by all of a net's parameters, and its value."""
        keys = self.trainable[role]
        with tf.GradientTape() as tape:
            tape.watch([self.values[key] for key in keys])
            value = loss()
        return value, tape.gradient(value, [self.values[key] for key in keys])

    def descend(self, role, gradients):
        for key, gradient in zip(self.trainable[role], gradients, strict=True):
            self.values[key] = self.values[key] - RATES[role] * gradient


def reference_step(ref, reals, streams, plan):
    """The step by its definition. `streams`: names of the latents of each discriminator update, and of the generator's."""
    updates, fakes, _, mode, _ = plan
    own_training = not (fakes == "shared" and mode == "inference")
    facts = {name: [] for name in FACTS}

    def discriminator_gradients(real, stream, training):
        fake = ref.generate(FixedDraws.numbers(stream), training)

        def loss():
            logits = ref.judge(tf.constant(real, tf.float64), True), ref.judge(fake, True)
            facts["logits/real"].append(tf.reduce_mean(logits[0]))
            facts["logits/fake"].append(tf.reduce_mean(logits[1]))
            return tf.reduce_mean(tf.nn.softplus(-logits[0]) + tf.nn.softplus(logits[1]))

        value, gradients = ref.gradients("discriminator", loss)
        facts["loss/discriminator"].append(value)
        facts["grad_norm/discriminator"].append(tf.linalg.global_norm(gradients))
        return gradients

    def generator_gradients():
        def loss():
            fake = ref.generate(FixedDraws.numbers(streams[-1]), own_training, move=own_training)
            return tf.reduce_mean(tf.nn.softplus(-ref.judge(fake, False)))

        value, gradients = ref.gradients("generator", loss)
        facts["loss/generator"].append(value)
        facts["grad_norm/generator"].append(tf.linalg.global_norm(gradients))
        return gradients

    for real, stream in zip(reals[:-1], streams[:-2], strict=True):
        ref.descend("discriminator", discriminator_gradients(real, stream, mode == "train"))
    last_training = own_training if fakes == "shared" else mode == "train"
    d_gradients = discriminator_gradients(reals[-1], streams[-2], last_training)
    if updates == "alternating":
        ref.descend("discriminator", d_gradients)
        g_gradients = generator_gradients()
    else:
        g_gradients = generator_gradients()
        ref.descend("discriminator", d_gradients)
    ref.descend("generator", g_gradients)
    return {name: float(np.mean(values)) for name, values in facts.items()}


def prepared(plan):
    updates, fakes, discriminator_steps, mode, norm = plan
    changes = {
        **SGD,
        "training.updates": updates,
        "training.fakes": fakes,
        "training.discriminator_steps": discriminator_steps,
        "training.generator_mode": mode,
        "training.ema": None,
        **(BATCH_NORM if norm == "batch_norm" else {}),
    }
    experiment = tiny_experiment(changes)
    step = experiment.engine.step
    step.maker.draws = FixedDraws()
    random = np.random.default_rng(3)
    reals = [random.uniform(-1, 1, (8, 8, 8, 1)) for _ in range(discriminator_steps)]
    return experiment, step, reals


def run(step, reals):
    return step([{"real": tf.constant(real, tf.float32)} for real in reals], tf.constant(0, tf.int64))


def streams_of(step, fakes, discriminator_steps):
    """[one per discriminator update, the generator's]; every update has its own latents, and shared fakes are one draw."""
    asked = step.maker.draws.asked
    assert len(set(asked)) == len(asked) == discriminator_steps + (fakes == "fresh")
    extra = [stream for stream in asked if stream != "generator"]
    return [*extra, "generator", "generator"] if fakes == "shared" else [*extra, "generator"]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: "-".join(map(str, plan)))
def test_losses_gradients_and_statistics_of_a_step_are_those_of_its_definition(plan):
    experiment, step, reals = prepared(plan)
    ref = Reference(experiment)
    result = run(step, reals)
    facts = reference_step(ref, reals, streams_of(step, plan[1], plan[2]), plan)
    assert bool(result.fine)
    np.testing.assert_allclose(result.facts.numpy()[: len(FACTS)], [facts[name] for name in FACTS], rtol=2e-5, atol=1e-6)
    for key, value in ref.values.items():
        if key.startswith(("generator/", "discriminator/")):
            np.testing.assert_allclose(experiment.state[key].numpy(), value.numpy(), rtol=2e-5, atol=2e-6, err_msg=key)


@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
@pytest.mark.parametrize("role", ["generator", "discriminator"])
def test_an_update_moves_every_parameter_of_its_own_net_and_nothing_of_the_other(updates, role):
    experiment, step, reals = prepared((updates, "shared", 1, "train", "batch_norm"))
    other = {"generator": "discriminator", "discriminator": "generator"}[role]
    getattr(step, f"_{other}_update")._learning_rate = 0.0
    before = snapshot(experiment.state)
    run(step, reals)
    moved = changed(before, snapshot(experiment.state))
    own, others = getattr(experiment, role).trainable, getattr(experiment, other).trainable
    # a bias in front of a ReLU that is off, or of a softplus, still moves; a gradient of exactly zero would be a cut
    assert set(own) <= moved
    assert not set(others) & moved


def test_generator_in_inference_mode_with_shared_fakes_leaves_its_statistics_alone():
    experiment, step, reals = prepared(("alternating", "shared", 2, "inference", "batch_norm"))
    before = snapshot(experiment.generator.variables)
    run(step, reals)
    moved = changed(before, snapshot(experiment.generator.variables))
    assert moved == set(experiment.generator.trainable)


def test_suspects_name_the_net_whose_loss_is_not_finite():
    experiment, step, reals = prepared(("alternating", "shared", 2, "train", "none"))
    reals[1][0, 0, 0, 0] = np.nan
    before = snapshot(experiment.state)
    result = run(step, reals)
    assert not bool(result.fine)
    assert step.suspects[int(result.blamed)] == "loss/discriminator"
    moved = changed(before, snapshot(experiment.state))
    assert not {key for key in moved if key.startswith(("generator/", "optimizer.generator/"))}
