"""The recipes of the GAN step by their definitions, in float64: losses, penalties, and which changes of a tiny spec ask for them.

A penalty is (reference, real, fake) -> scalar; a recipe is (changes, the two losses, [(weight, penalty)]).
"""

# ruff: noqa: ARG005  a lambda keeps the signature

from __future__ import annotations

import numpy as np
import tensorflow as tf

LABELS = {"real": np.array([0, 1, 2, 3, 4, 5, 6, 7]), "fake": np.array([9, 8, 7, 7, 3, 2, 1, 0])}

PROJECTION = {"generator.conditioning": "embedding", "discriminator.conditioning": "projection"}
CONCAT = {"generator.conditioning": "embedding", "discriminator.conditioning": "concat"}
AUXILIARY = {"generator.conditioning": "embedding", "discriminator.conditioning": "auxiliary"}


def softplus(x):
    return tf.math.log1p(tf.exp(-tf.abs(x))) + tf.maximum(x, 0)


def hinge(r, f):
    return tf.maximum(0, 1 - r) + tf.maximum(0, 1 + f)


def average(r, f):
    return softplus(tf.reduce_mean(f) - r) + softplus(f - tf.reduce_mean(r))


ORIGINAL = (lambda r, f: softplus(-r) + softplus(f), lambda r, f: softplus(-f))
SQUARES = (lambda r, f: ((r - 1) ** 2 + f**2) / 2, lambda r, f: (f - 1) ** 2 / 2)
CRITIC = (lambda r, f: f - r, lambda r, f: -f)
PAIRS = (lambda r, f: softplus(f - r), lambda r, f: softplus(r - f))
SMOOTH = (lambda r, f: 0.9 * softplus(-r) + 0.1 * softplus(r) + softplus(f), ORIGINAL[1])


# ---------------------------------------------------------------- penalties: (reference, real, fake) -> scalar


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


RECIPES = {  # changes, the two losses, [(weight, penalty)]
    "minimax": ({"objective": {"loss": "minimax"}}, (ORIGINAL[0], lambda r, f: -softplus(f)), []),
    "label_smoothing": ({"objective": {"loss": {"name": "non_saturating", "label_smoothing": 0.1}}}, SMOOTH, []),
    "lsgan": ({"objective": {"loss": "lsgan"}}, SQUARES, []),
    "hinge_spectral": ({"objective": {"loss": "hinge"}, "discriminator.norm": "spectral_norm"}, (hinge, CRITIC[1]), []),
    "wgan_gp": ({"objective": {"loss": "wasserstein", "penalties": ["gradient_penalty"]}}, CRITIC, [(10, wgan_gp)]),
    "wgan_clip": ({"objective": {"loss": "wasserstein", "constraints": [{"name": "clip_weights", "limit": 0.1}]}}, CRITIC, []),
    "r1": ({"objective": {"penalties": [{"name": "r1", "weight": 2}]}}, ORIGINAL, [(2, r1)]),
    "r1_lazy": ({"objective": {"penalties": [{"name": "r1", "weight": 2, "every": 4}]}}, ORIGINAL, [(8, r1)]),
    "r1_layer_norm": (
        {"objective": {"penalties": [{"name": "r1", "weight": 1e-3}]}, "discriminator.norm": "layer_norm"},
        ORIGINAL,
        [(1e-3, r1)],
    ),
    "r1_spectral": ({"objective": {"penalties": ["r1"]}, "discriminator.norm": "spectral_norm"}, ORIGINAL, [(10, r1)]),
    "dragan": ({"objective": {"penalties": ["dragan"]}}, ORIGINAL, [(10, dragan)]),
    "gradient_penalty_one_sided": (
        {"objective": {"penalties": [{"name": "gradient_penalty", "one_sided": True, "target": 0.2}]}},
        ORIGINAL,
        [(10, one_sided)],
    ),
    "lecam": ({"objective": {"penalties": ["lecam"]}}, ORIGINAL, [(0.3, lecam)]),
    "consistency": ({"objective": {"penalties": [{"name": "consistency", "shift": 2}]}}, ORIGINAL, [(10, consistency)]),
    "orthogonal": ({"objective": {"regularisers": [{"name": "orthogonal", "weight": 0.1}]}}, ORIGINAL, [(0.1, orthogonal)]),
    "rpgan_r1_r2": (
        {"objective": {"loss": "rpgan", "penalties": [{"name": "r1", "weight": 0.1}, {"name": "r2", "weight": 0.1}]}},
        PAIRS,
        [(0.1, r1), (0.1, r2)],
    ),
    "relativistic_average": ({"objective": {"loss": "relativistic_average"}}, (average, lambda r, f: average(f, r)), []),
    "conditional_projection": (
        {**PROJECTION, "objective": {"loss": "hinge", "penalties": ["r1", "r2"]}},
        (hinge, CRITIC[1]),
        [(10, r1), (10, r2)],
    ),
    "conditional_concat": (
        {**CONCAT, "objective": {"loss": "rpgan", "penalties": ["r1", "r2"]}},
        PAIRS,
        [(10, r1), (10, r2)],
    ),
    "conditional_auxiliary": ({**AUXILIARY, "objective": {"class_weight": 0.5}}, ORIGINAL, []),
}  # fmt: skip
