"""Losses as pure functions (real_logits [B], fake_logits [B]) -> [B], computed in float32.

In the equations r is the logit of a real example, f that of a fake one, s the sigmoid and sp(x) = log(1 + exp(x)) the softplus,
so that log s(x) = -sp(-x) and log(1 - s(x)) = -sp(x): no loss takes the logarithm of a probability.
"""

from __future__ import annotations

import tensorflow as tf

from gantrain.interfaces import Loss, LossSettings, Tensor


def build_non_saturating(_: LossSettings) -> Loss:
    """Builder of the non-saturating loss."""
    return Loss(cross_entropy_discriminator, non_saturating_generator)


def build_minimax(_: LossSettings) -> Loss:
    """Builder of the minimax loss."""
    return Loss(cross_entropy_discriminator, minimax_generator)


def build_hinge(_: LossSettings) -> Loss:
    """Builder of the hinge loss."""
    return Loss(hinge_discriminator, linear_generator)


def build_lsgan(_: LossSettings) -> Loss:
    """Builder of the least-squares loss."""
    return Loss(least_squares_discriminator, least_squares_generator)


def build_wasserstein(_: LossSettings) -> Loss:
    """Builder of the Wasserstein loss."""
    return Loss(wasserstein_discriminator, linear_generator)


def cross_entropy_discriminator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """-log s(r) - log(1 - s(f)) = sp(-r) + sp(f), [B]. Goodfellow et al. 2014 (arXiv:1406.2661), equation 1."""
    real, fake = _float32(real_logits, fake_logits)
    return tf.nn.softplus(-real) + tf.nn.softplus(fake)


def non_saturating_generator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """-log s(f) = sp(-f), [B]. Goodfellow et al. 2014 (arXiv:1406.2661), end of section 3."""
    _, fake = _float32(real_logits, fake_logits)
    return tf.nn.softplus(-fake)


def minimax_generator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """log(1 - s(f)) = -sp(f), [B]. Goodfellow et al. 2014 (arXiv:1406.2661), equation 1."""
    _, fake = _float32(real_logits, fake_logits)
    return -tf.nn.softplus(fake)


def hinge_discriminator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """max(0, 1 - r) + max(0, 1 + f), [B]. Lim and Ye 2017 (arXiv:1705.02894)."""
    real, fake = _float32(real_logits, fake_logits)
    return tf.nn.relu(1.0 - real) + tf.nn.relu(1.0 + fake)


def linear_generator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """-f, [B]: the generator's side of the hinge (arXiv:1705.02894) and Wasserstein (arXiv:1701.07875) losses."""
    _, fake = _float32(real_logits, fake_logits)
    return -fake


def least_squares_discriminator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """(r - 1)^2 / 2 + f^2 / 2 on raw outputs, [B]. Mao et al. 2017 (arXiv:1611.04076), equation 2 with a = 0, b = 1."""
    real, fake = _float32(real_logits, fake_logits)
    return 0.5 * tf.square(real - 1.0) + 0.5 * tf.square(fake)


def least_squares_generator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """(f - 1)^2 / 2 on raw outputs, [B]. Mao et al. 2017 (arXiv:1611.04076), equation 2 with c = 1."""
    _, fake = _float32(real_logits, fake_logits)
    return 0.5 * tf.square(fake - 1.0)


def wasserstein_discriminator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """f - r, [B]. Arjovsky et al. 2017 (arXiv:1701.07875), algorithm 1."""
    real, fake = _float32(real_logits, fake_logits)
    return fake - real


def _float32(real_logits: Tensor, fake_logits: Tensor) -> tuple[Tensor, Tensor]:
    return tf.cast(real_logits, tf.float32), tf.cast(fake_logits, tf.float32)
