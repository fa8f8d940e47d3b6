"""Every registered loss: shape, dtype, extreme logits, the facts it declares, and who it pushes where."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.interfaces import Loss

NAMES = registry.names("loss")
LOGITS = np.linspace(-3.1, 3.3, 9, dtype=np.float32)


def loss_of(name: str) -> Loss:
    row = registry.find("loss", name)
    assert row is not None
    return registry.build(row.settings())


def gradients(side, real, fake) -> tuple[np.ndarray, np.ndarray]:
    real, fake = tf.constant(real, tf.float32), tf.constant(fake, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch([real, fake])
        total = tf.reduce_sum(side(real, fake))
    both = tape.gradient(total, [real, fake], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return both[0].numpy(), both[1].numpy()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_both_sides_give_one_float32_number_per_example(name, dtype):
    loss = loss_of(name)
    for side in (loss.discriminator, loss.generator):
        value = side(tf.cast(LOGITS, dtype), tf.cast(-LOGITS, dtype))
        assert value.shape == LOGITS.shape
        assert value.dtype == tf.float32


@pytest.mark.parametrize("name", NAMES)
def test_logits_of_ten_thousand_keep_values_and_gradients_finite(name):
    loss = loss_of(name)
    real, fake = np.array([1e4, 1e4, -1e4, -1e4], np.float32), np.array([1e4, -1e4, 1e4, -1e4], np.float32)
    for side in (loss.discriminator, loss.generator):
        assert np.isfinite(side(tf.constant(real), tf.constant(fake)).numpy()).all()
        assert np.isfinite(gradients(side, real, fake)).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("side", ["discriminator", "generator"])
def test_gradients_agree_with_differences_of_the_values(name, side):
    function, width = getattr(loss_of(name), side), 1e-2
    both = np.stack([LOGITS, LOGITS[::-1]])

    def slope(row: int, column: int) -> float:
        """Of the batch's sum: a loss may look at the mean logit of the batch."""
        step = np.zeros_like(both)
        step[row, column] = width
        up, down = (function(*tf.constant(both + sign * step)).numpy().astype(np.float64).sum() for sign in (1, -1))
        return (up - down) / (2 * width)

    found = gradients(function, *both)
    for row in range(2):
        np.testing.assert_allclose(found[row], [slope(row, column) for column in range(len(LOGITS))], atol=5e-4)


@pytest.mark.parametrize("name", NAMES)
def test_the_discriminator_raises_real_and_lowers_fake_and_the_generator_raises_fake(name):
    loss, undecided = loss_of(name), np.full(3, 0.5, np.float32)  # between the targets 0 and 1 of least squares
    of_real, of_fake = gradients(loss.discriminator, undecided, undecided)
    assert (of_real < 0).all()
    assert (of_fake > 0).all()
    assert (gradients(loss.generator, undecided, undecided)[1] < 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_generator_reads_real_logits_exactly_if_it_says_so(name):
    row = registry.find("loss", name)
    of_real, _ = gradients(loss_of(name).generator, LOGITS, LOGITS[::-1].copy())
    assert bool((of_real != 0).any()) == row.settings().generator_reads_real()


@pytest.mark.parametrize("name", NAMES)
def test_the_generator_gradient_vanishes_against_a_sure_discriminator_exactly_if_it_says_so(name):
    row, sure = registry.find("loss", name), np.full(2, 12.0, np.float32)
    _, of_fake = gradients(loss_of(name).generator, sure, -sure)
    assert bool((np.abs(of_fake) < 1e-3).all()) == row.settings().is_saturating()


@pytest.mark.parametrize("name", NAMES)
def test_the_discriminator_loss_has_no_lower_bound_exactly_if_it_needs_a_constraint(name):
    row, far = registry.find("loss", name), tf.constant([1e4])
    apart = loss_of(name).discriminator(far, -far).numpy()
    assert bool((apart < -1e3).all()) == row.settings().needs_constraint()
