"""Penalties by their definition in float64: functions of (reference nets, real, fake) -> scalar, for test_recipes.py."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

LABELS = {"real": np.array([0, 1, 2, 3, 4, 5, 6, 7]), "fake": np.array([9, 8, 7, 7, 3, 2, 1, 0])}


def slope(ref, x, labels):
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(ref.judge(x, labels, move=False)[0])
    return tape.gradient(total, x)


def squared(gradient):
    return tf.reduce_sum(gradient**2, axis=1)


def uniform(shape):
    return tf.cast(tf.random.stateless_uniform(shape, [0, 0], alg="philox"), tf.float64)


def r1(ref, real, fake):
    return tf.reduce_mean(squared(slope(ref, real, LABELS["real"]))) / 2


def r2(ref, real, fake):
    return tf.reduce_mean(squared(slope(ref, fake, LABELS["fake"]))) / 2


def wgan_gp(ref, real, fake):
    share = tf.reshape(uniform([8, 1, 1, 1]), [8, 1])
    return tf.reduce_mean((tf.sqrt(squared(slope(ref, share * real + (1 - share) * fake, LABELS["real"]))) - 1) ** 2)


def one_sided(ref, real, fake):
    share = tf.reshape(uniform([8, 1, 1, 1]), [8, 1])
    excess = tf.sqrt(squared(slope(ref, share * real + (1 - share) * fake, LABELS["real"]))) - 0.2
    return tf.reduce_mean(tf.maximum(excess, 0) ** 2)


def dragan(ref, real, fake):
    x = real + 0.5 * tf.math.reduce_std(real) * tf.reshape(uniform([8, 8, 8, 1]), [8, 64])
    return tf.reduce_mean((tf.sqrt(squared(slope(ref, x, LABELS["real"]))) - 1) ** 2)


def lecam(ref, real, fake):
    """Averages that start at zero and take this batch in first, with a share of 0.01."""
    of_real, of_fake = ref.judge(real, LABELS["real"], move=False)[0], ref.judge(fake, LABELS["fake"], move=False)[0]
    average_real, average_fake = (tf.stop_gradient(0.01 * tf.reduce_mean(logits)) for logits in (of_real, of_fake))
    return tf.reduce_mean(tf.maximum(of_real - average_fake, 0) ** 2 + tf.maximum(average_real - of_fake, 0) ** 2)


def consistency(ref, real, fake):
    """Mirrored where the number is below a half, then moved by -2 ... 2 pixels, edges reflected."""
    mirrored = uniform([8, 1, 1, 1]).numpy().ravel() < 0.5
    steps = (tf.random.stateless_uniform([8, 2], [0, 1 << 40], alg="philox").numpy() * 5).astype(int) - 2
    moved = np.empty((8, 8, 8))
    for index, picture in enumerate(real.numpy().reshape(8, 8, 8)):
        down, right = steps[index]
        padded = np.pad(picture[:, ::-1] if mirrored[index] else picture, 2, mode="reflect")
        moved[index] = padded[2 - down : 10 - down, 2 - right : 10 - right]
    of_real, of_moved = (ref.judge(x, LABELS["real"], move=False)[0] for x in (real, tf.constant(moved.reshape(8, 64))))
    return tf.reduce_mean((of_real - of_moved) ** 2)


def orthogonal(ref, real, fake):
    kernels = [ref.values[key] for key in ref.trainable["discriminator"] if key.endswith("kernel")]
    products = [tf.transpose(kernel) @ kernel for kernel in kernels]
    return sum(tf.reduce_sum((product * (1 - tf.eye(len(product), dtype=tf.float64))) ** 2) for product in products)
