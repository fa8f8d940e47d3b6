"""predict, then train_on_batch on the discriminator, then train_on_batch on the stacked model: the loop of most first GANs."""

from __future__ import annotations

import numpy as np
from _keras_nets import adam, build
from _keras_start import start
from _worker import LATENT, WORKLOADS, arguments, pictures, serve

import keras  # isort: skip


def main() -> None:
    """Train as long as the benchmark asks."""
    name, precision = arguments()
    start(precision)
    generator, discriminator = build(name)
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    discriminator.compile(adam(name), loss)
    latents = keras.Input((LATENT,))
    discriminator.trainable = False
    stacked = keras.Model(latents, discriminator(generator(latents)))
    stacked.compile(adam(name), loss)
    batch, images, rng = WORKLOADS[name].batch, pictures(WORKLOADS[name]), np.random.default_rng(1)
    labels = np.concatenate([np.ones((batch, 1), "float32"), np.zeros((batch, 1), "float32")])

    def run(steps: int) -> None:
        for _ in range(steps):
            real = images[rng.integers(0, len(images), batch)].astype("float32") / 127.5 - 1.0
            noise = rng.normal(size=(batch, LATENT)).astype("float32")
            fake = generator.predict(noise, verbose=0)
            discriminator.trainable = True
            discriminator.train_on_batch(np.concatenate([real, fake]), labels)
            discriminator.trainable = False
            stacked.train_on_batch(noise, labels[:batch])

    serve(batch, run)


main()
