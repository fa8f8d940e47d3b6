"""One step of each recipe against a re-implementation in float64: losses to 1e-5, every gradient to 1e-6 of its net's largest.

With micro-batches as well: the reference knows only the whole batch.
"""

# ruff: noqa: ARG002  a stand-in keeps the signature

from __future__ import annotations

import zlib

import numpy as np
import pytest
import tensorflow as tf

from tests.helpers import tiny_experiment
from tests.unit.training.recipes import LABELS, RECIPES

RATE = {"generator": 0.3, "discriminator": 0.2}
SGD = {f"optimizers.{role}": {"name": "sgd", "learning_rate": rate} for role, rate in RATE.items()}
# What looks at the whole batch, or moves a state with each micro-batch: not the same with micro-batches.
WHOLE_BATCH = ("relativistic_average", "dragan", "lecam", "hinge_spectral", "r1_spectral")
QUICK_PARTS = ("wgan_gp", "rpgan_r1_r2", "conditional_projection")  # of micro-batches; the others in the slow tier


class Draws:
    """Fixed latents and labels."""

    latent = np.random.default_rng(zlib.crc32(b"latents")).standard_normal((8, 4)).astype(np.float32)

    def latents(self, stream, step, count):
        return tf.constant(self.latent)

    def labels(self, stream, step, count, histogram):
        return None if histogram is None else tf.constant(LABELS["fake"], tf.int64)

    def key(self, stream, step):
        return tf.constant([0, 0], tf.int64)


class Reference:
    """The nets in float64 as a plain dictionary of numbers."""

    def __init__(self, experiment):
        self.values = {
            key: tf.constant(value.numpy(), tf.float64) for key, value in experiment.state.items() if value.dtype == tf.float32
        }
        self.trainable = {net.role: list(net.trainable) for net in (experiment.generator, experiment.discriminator)}

    def linear(self, x, prefix, name, move):
        bias, kernel = f"{prefix}/{name}/bias", f"{prefix}/{name}/kernel"
        if kernel in self.values:
            return x @ self.values[kernel] + self.values.get(bias, 0.0)
        spectral = f"{prefix}/spectral_{name}"
        matrix = self.values[f"{spectral}/{name}/kernel"]
        left = matrix.numpy() @ self.values[f"{spectral}/singular_vector"].numpy()
        left /= np.linalg.norm(left)
        right = left @ matrix.numpy()
        right /= np.linalg.norm(right)
        if move:
            self.values[f"{spectral}/singular_vector"] = tf.constant(right)
        sigma = tf.reduce_sum(left[:, None] * matrix * right[None, :])
        return x @ (matrix / sigma) + self.values[f"{spectral}/{name}/bias"]

    def judge(self, x, labels, move):
        """Logits, and class logits or None."""
        table = self.values.get("discriminator/classes/table/kernel")
        beside = table is not None and table.shape[1] == 64
        if beside:  # one more channel: every second number
            x = tf.reshape(tf.stack([x, tf.gather(table, labels)], axis=2), [-1, 128])
        for name in ("hidden1", "hidden2"):
            x = self.linear(x, f"discriminator/{name}", "dense", move)
            gamma = self.values.get(f"discriminator/{name}/norm/gamma")
            if gamma is not None:
                mean = tf.reduce_mean(x, axis=1, keepdims=True)
                variance = tf.reduce_mean((x - mean) ** 2, axis=1, keepdims=True)
                x = (x - mean) / tf.sqrt(variance + 1e-5) * gamma + self.values[f"discriminator/{name}/norm/beta"]
            x = tf.maximum(x, 0)
        logits = self.linear(x, "discriminator", "head", move)[:, 0]
        if table is not None and not beside:
            logits += tf.reduce_sum(tf.gather(table, labels) * x, axis=1)
        classes = (
            self.linear(x, "discriminator", "class_head", move) if "discriminator/class_head/kernel" in self.values else None
        )
        return logits, classes

    def generate(self):
        x = tf.constant(Draws.latent, tf.float64)
        table = self.values.get("generator/classes/table/kernel")
        if table is not None:
            x = tf.concat([x, tf.gather(table, LABELS["fake"])], axis=1)
        x = tf.maximum(self.linear(x, "generator/hidden1", "dense", False), 0)
        return tf.tanh(self.linear(x, "generator", "out", False))

    def gradients(self, role, loss):
        variables = [self.values[key] for key in self.trainable[role]]
        with tf.GradientTape() as tape:
            tape.watch(variables)
            value = loss()
        found = tape.gradient(value, variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return float(value), {key: tf.convert_to_tensor(item) for key, item in zip(self.trainable[role], found, strict=True)}

    def descend(self, role, gradients):
        for key, gradient in gradients.items():
            self.values[key] = self.values[key] - RATE[role] * gradient


def named(classes, labels):
    """0.5 times the mean of -log p(label)."""
    if classes is None:
        return 0.0
    chosen = tf.reduce_sum(tf.one_hot(labels, 10, dtype=tf.float64) * classes, axis=1)
    return 0.5 * tf.reduce_mean(tf.reduce_logsumexp(classes, axis=1) - chosen)


def reference_step(ref, real, losses, penalties, limit):
    """(losses, gradients) of both updates by their definition; the values of `ref` afterwards are those after the step."""
    fixed = ref.generate()

    def discriminator_loss():
        # before the forwards that move singular vectors: R1 looks at the very forward that the loss looks at
        added = sum(weight * penalty(ref, real, fixed) for weight, penalty in penalties)
        of_real, real_classes = ref.judge(real, LABELS["real"], True)
        of_fake, fake_classes = ref.judge(fixed, LABELS["fake"], True)
        return (
            tf.reduce_mean(losses[0](of_real, of_fake))
            + added
            + named(real_classes, LABELS["real"])
            + named(fake_classes, LABELS["fake"])
        )

    def generator_loss():
        of_fake, classes = ref.judge(ref.generate(), LABELS["fake"], False)
        of_real, _ = ref.judge(real, LABELS["real"], False)
        return tf.reduce_mean(losses[1](of_real, of_fake)) + named(classes, LABELS["fake"])

    d_loss, d_gradients = ref.gradients("discriminator", discriminator_loss)
    ref.descend("discriminator", d_gradients)
    for key in ref.trainable["discriminator"] if limit else []:
        ref.values[key] = tf.clip_by_value(ref.values[key], -limit, limit)
    g_loss, g_gradients = ref.gradients("generator", generator_loss)
    ref.descend("generator", g_gradients)
    return (g_loss, d_loss), d_gradients | g_gradients


def _cases():
    for recipe in RECIPES:
        yield pytest.param(recipe, 1)
        if recipe not in WHOLE_BATCH:
            yield pytest.param(recipe, 4, marks=() if recipe in QUICK_PARTS else pytest.mark.slow)


@pytest.mark.parametrize(("recipe", "accumulate"), list(_cases()))
def test_losses_and_every_gradient_of_a_step_are_those_of_its_definition(recipe, accumulate):
    changes, losses, penalties = RECIPES[recipe]
    experiment = tiny_experiment({**SGD, "training.ema": None, "training.accumulate": accumulate, **changes})
    step = experiment.engine.step
    step.maker.draws = Draws()
    step._judge._key_of = Draws().key
    real = np.random.default_rng(3).uniform(-1, 1, (8, 8, 8, 1)).astype(np.float32)
    ref = Reference(experiment)
    batch = {"real": tf.constant(real)} | ({"labels": tf.constant(LABELS["real"], tf.int64)} if "conditional" in recipe else {})
    result = tf.function(lambda: step([batch], tf.constant(0, tf.int64)))()
    limit = 0.1 if recipe == "wgan_clip" else None
    expected, gradients = reference_step(ref, tf.constant(real.reshape(8, 64), tf.float64), losses, penalties, limit)
    assert bool(result.fine)
    np.testing.assert_allclose(result.facts.numpy()[:2], expected, rtol=1e-5, atol=1e-8)
    largest = {role: max(np.abs(gradients[key]).max() for key in keys) for role, keys in ref.trainable.items()}
    assert min(largest.values()) > 1e-4, "a comparison of zeros"
    for key, gradient in gradients.items():
        found = experiment.state[f"optimizer.{key}/accumulator"].numpy()  # without momentum: the gradient itself
        atol = 1e-6 * largest[key.split("/")[0]]  # a sum that cancels is as exact as its terms: float32 has 1.2e-7
        np.testing.assert_allclose(found, gradient.numpy(), rtol=0, atol=atol, err_msg=key)
    for key, value in ref.values.items():
        if key.startswith(("generator/", "discriminator/")):
            np.testing.assert_allclose(experiment.state[key].numpy(), value.numpy(), rtol=1e-5, atol=2e-6, err_msg=key)
