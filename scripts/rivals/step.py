"""A tf.function per batch with one generator forward for both updates, as in TensorFlow's DCGAN tutorial."""

from __future__ import annotations

from _keras_nets import adam, build
from _keras_start import batches, start
from _worker import LATENT, WORKLOADS, arguments, serve

import keras  # isort: skip
import tensorflow as tf  # isort: skip


def main() -> None:
    """Train as long as the benchmark asks."""
    name, precision = arguments()
    start(precision)
    generator, discriminator = build(name)
    optimizers = adam(name), adam(name)
    cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)
    batch, iterator = WORKLOADS[name].batch, iter(batches(name))

    @tf.function
    def train_step(real: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as generator_tape, tf.GradientTape() as discriminator_tape:
            fake = generator(tf.random.normal([batch, LATENT]), training=True)
            real_logits, fake_logits = discriminator(real, training=True), discriminator(fake, training=True)
            own = cross_entropy(tf.ones_like(fake_logits), fake_logits)
            loss = cross_entropy(tf.ones_like(real_logits), real_logits)
            loss += cross_entropy(tf.zeros_like(fake_logits), fake_logits)
        for optimizer, net, tape, value in (
            (optimizers[0], generator, generator_tape, own),
            (optimizers[1], discriminator, discriminator_tape, loss),
        ):
            weights = net.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(value, weights), weights, strict=True))
        return own, loss

    def run(steps: int) -> None:
        for _ in range(steps):
            losses = train_step(next(iterator))
        float(losses[0])

    serve(batch, run)


main()
