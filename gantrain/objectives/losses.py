"""Losses as pure functions (real_logits [B], fake_logits [B]) -> [B], computed in float32.

In the equations r is the logit of a real example, f that of a fake one, s the sigmoid and sp(x) = log(1 + exp(x)) the softplus,
so that log s(x) = -sp(-x) and log(1 - s(x)) = -sp(x): no loss takes the logarithm of a probability.
"""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from gantrain.interfaces import Loss, LossSettings, Tensor
from gantrain.objectives import catalog

Side = Callable[[Tensor, Tensor], Tensor]


def build_non_saturating(settings: catalog.NonSaturating) -> Loss:
    """Builder of the non-saturating loss."""
    return Loss(_cross_entropy(settings), non_saturating_generator)


def build_minimax(settings: catalog.Minimax) -> Loss:
    """Builder of the minimax loss."""
    return Loss(_cross_entropy(settings), minimax_generator)


def build_hinge(_: LossSettings) -> Loss:
    """Builder of the hinge loss."""
    return Loss(hinge_discriminator, linear_generator)


def build_lsgan(settings: catalog.LeastSquares) -> Loss:
    """Builder of the least-squares loss."""

    def discriminator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
        return least_squares_discriminator(real_logits, fake_logits, 1.0 - settings.label_smoothing)

    return Loss(with_flipped_labels(discriminator, settings.flipped_share), least_squares_generator)


def build_wasserstein(_: LossSettings) -> Loss:
    """Builder of the Wasserstein loss."""
    return Loss(wasserstein_discriminator, linear_generator)


def build_rpgan(_: LossSettings) -> Loss:
    """Builder of the loss on pairs of a real and a fake example."""
    return Loss(paired_discriminator, paired_generator)


def build_relativistic_average(_: LossSettings) -> Loss:
    """Builder of the loss against the average logit of the other side."""
    return Loss(relativistic_average, lambda real, fake: relativistic_average(fake, real))


def cross_entropy_discriminator(real_logits: Tensor, fake_logits: Tensor, target: float = 1.0) -> Tensor:
    """-t log s(r) - (1 - t) log(1 - s(r)) - log(1 - s(f)) = t sp(-r) + (1 - t) sp(r) + sp(f), [B].

    t = `target` of the real examples. t = 1: Goodfellow et al. 2014 (arXiv:1406.2661), equation 1; t < 1: one-sided label
    smoothing, Salimans et al. 2016 (arXiv:1606.03498), section 3.4.
    """
    real, fake = _float32(real_logits, fake_logits)
    of_real = tf.nn.softplus(-real)
    if target != 1.0:
        of_real = target * of_real + (1.0 - target) * tf.nn.softplus(real)
    return of_real + tf.nn.softplus(fake)


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


def least_squares_discriminator(real_logits: Tensor, fake_logits: Tensor, target: float = 1.0) -> Tensor:
    """(r - b)^2 / 2 + f^2 / 2 on raw outputs, [B], b = `target`. Mao et al. 2017 (arXiv:1611.04076), equation 2 with a = 0."""
    real, fake = _float32(real_logits, fake_logits)
    return 0.5 * tf.square(real - target) + 0.5 * tf.square(fake)


def least_squares_generator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """(f - 1)^2 / 2 on raw outputs, [B]. Mao et al. 2017 (arXiv:1611.04076), equation 2 with c = 1."""
    _, fake = _float32(real_logits, fake_logits)
    return 0.5 * tf.square(fake - 1.0)


def wasserstein_discriminator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """f - r, [B]. Arjovsky et al. 2017 (arXiv:1701.07875), algorithm 1."""
    real, fake = _float32(real_logits, fake_logits)
    return fake - real


def paired_discriminator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """sp(-(r - f)), [B]. Jolicoeur-Martineau 2018 (arXiv:1807.00734), section 4.1; Huang et al. 2024 (arXiv:2501.05441)."""
    real, fake = _float32(real_logits, fake_logits)
    return tf.nn.softplus(fake - real)


def paired_generator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """sp(-(f - r)), [B]: the discriminator's side with real and fake exchanged."""
    return paired_discriminator(fake_logits, real_logits)


def relativistic_average(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
    """sp(-(r - mean f)) + sp(f - mean r), [B], the discriminator's side; the generator's has real and fake exchanged.

    Jolicoeur-Martineau 2018 (arXiv:1807.00734), equation 13; the sum of both terms, not its half. Means are over the batch.
    """
    real, fake = _float32(real_logits, fake_logits)
    return tf.nn.softplus(tf.reduce_mean(fake) - real) + tf.nn.softplus(fake - tf.reduce_mean(real))


def with_flipped_labels(side: Side, share: float) -> Side:
    """`side` with real and fake exchanged in the first round(share * B) examples of each batch.

    Batches are drawn in random order, so these are random examples; no random number is spent on it.
    """
    if share == 0.0:
        return side

    def flipped(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
        real, fake = _float32(real_logits, fake_logits)
        count = tf.shape(real)[0]
        swap = tf.range(count) < tf.cast(tf.round(share * tf.cast(count, tf.float32)), tf.int32)
        return side(tf.where(swap, fake, real), tf.where(swap, real, fake))

    return flipped


def _cross_entropy(settings: catalog.LabelledLoss) -> Side:
    target = 1.0 - settings.label_smoothing

    def discriminator(real_logits: Tensor, fake_logits: Tensor) -> Tensor:
        return cross_entropy_discriminator(real_logits, fake_logits, target)

    return with_flipped_labels(discriminator, settings.flipped_share)


def _float32(real_logits: Tensor, fake_logits: Tensor) -> tuple[Tensor, Tensor]:
    return tf.cast(real_logits, tf.float32), tf.cast(fake_logits, tf.float32)
