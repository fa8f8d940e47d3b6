"""An overridden train_step under Model.fit, as in Keras' own DCGAN example."""

from __future__ import annotations

import time

from _keras_nets import adam, build
from _keras_start import batches, start
from _worker import LATENT, WORKLOADS, arguments, serve

import keras  # isort: skip
import tensorflow as tf  # isort: skip


class Gan(keras.Model):
    """Two updates a step, the generator's with latents of its own."""

    def __init__(self, generator: keras.Model, discriminator: keras.Model) -> None:
        super().__init__()
        self.generator, self.discriminator = generator, discriminator

    def compile(self, optimizers: tuple, loss: keras.losses.Loss) -> None:
        """Two optimizers."""
        super().compile()
        self.generator_optimizer, self.discriminator_optimizer = optimizers
        self.loss_fn = loss

    def train_step(self, real: tf.Tensor) -> dict[str, tf.Tensor]:
        """One step on real [B,H,W,C]."""
        count = tf.shape(real)[0]
        fake = self.generator(tf.random.normal((count, LATENT)), training=True)
        labels = tf.concat([tf.ones((count, 1)), tf.zeros((count, 1))], axis=0)
        with tf.GradientTape() as tape:
            loss = self.loss_fn(labels, self.discriminator(tf.concat([real, fake], axis=0), training=True))
        weights = self.discriminator.trainable_weights
        self.discriminator_optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        with tf.GradientTape() as tape:
            images = self.generator(tf.random.normal((count, LATENT)), training=True)
            own = self.loss_fn(tf.ones((count, 1)), self.discriminator(images, training=True))
        weights = self.generator.trainable_weights
        self.generator_optimizer.apply_gradients(zip(tape.gradient(own, weights), weights, strict=True))
        return {"d_loss": loss, "g_loss": own}


class Clock(keras.callbacks.Callback):
    """Seconds from the end of the first batch to the end of the last: `fit` at times idles before and after."""

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        """Note the time."""
        del logs
        now = time.perf_counter()
        self.first = now if batch == 0 else self.first
        self.last = now


def main() -> None:
    """Train as long as the benchmark asks."""
    name, precision = arguments()
    start(precision)
    model = Gan(*build(name))
    model.compile((adam(name), adam(name)), keras.losses.BinaryCrossentropy(from_logits=True))
    clock, data = Clock(), batches(name)

    def run(steps: int) -> float | None:
        model.fit(data, steps_per_epoch=steps, verbose=0, callbacks=[clock])
        return (clock.last - clock.first) * steps / (steps - 1) if steps > 1 else None

    serve(WORKLOADS[name].batch, run)


main()
