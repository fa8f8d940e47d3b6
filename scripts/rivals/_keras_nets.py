"""The networks of the workloads as Keras users write them."""

from __future__ import annotations

import keras
from _worker import LATENT, WORKLOADS
from keras import layers

Sequential, Input = keras.Sequential, keras.Input


def build(name: str) -> tuple[keras.Model, keras.Model]:
    """(generator, discriminator with one logit)."""
    return {"W1": _dense, "W2": _tutorial, "W3": _dcgan, "W4": _sngan}[name](WORKLOADS[name].shape)


def adam(name: str) -> keras.optimizers.Optimizer:
    """A new optimizer with the workload's settings."""
    return keras.optimizers.Adam(WORKLOADS[name].learning_rate, beta_1=WORKLOADS[name].beta_1)


def _dense(shape: tuple[int, ...]) -> tuple[keras.Model, keras.Model]:
    generator = Sequential([Input((LATENT,))])
    for units in (256, 512, 1024):
        for layer in (layers.Dense(units, use_bias=False), layers.BatchNormalization(), layers.ReLU()):
            generator.add(layer)
    generator.add(layers.Dense(784, dtype="float32", activation="tanh"))
    generator.add(layers.Reshape(shape))
    discriminator = Sequential([Input(shape), layers.Flatten()])
    for units in (512, 256):
        discriminator.add(layers.Dense(units))
        discriminator.add(layers.LeakyReLU(0.2))
    discriminator.add(layers.Dense(1, dtype="float32"))
    return generator, discriminator


def _tutorial(shape: tuple[int, ...]) -> tuple[keras.Model, keras.Model]:
    generator = Sequential([Input((LATENT,)), layers.Dense(7 * 7 * 256, use_bias=False)])
    generator.add(layers.BatchNormalization())
    generator.add(layers.LeakyReLU(0.3))
    generator.add(layers.Reshape((7, 7, 256)))
    for channels, stride in ((128, 1), (64, 2)):
        generator.add(layers.Conv2DTranspose(channels, 5, stride, "same", use_bias=False))
        generator.add(layers.BatchNormalization())
        generator.add(layers.LeakyReLU(0.3))
    generator.add(layers.Conv2DTranspose(1, 5, 2, "same", use_bias=False, activation="tanh", dtype="float32"))
    discriminator = Sequential([Input(shape)])
    for channels in (64, 128):
        discriminator.add(layers.Conv2D(channels, 5, 2, "same"))
        discriminator.add(layers.LeakyReLU(0.3))
        discriminator.add(layers.Dropout(0.3))
    discriminator.add(layers.Flatten())
    discriminator.add(layers.Dense(1, dtype="float32"))
    return generator, discriminator


def _dcgan(shape: tuple[int, ...]) -> tuple[keras.Model, keras.Model]:
    plain = {"use_bias": False, "kernel_initializer": keras.initializers.RandomNormal(0, 0.02, seed=1)}
    generator = Sequential([Input((LATENT,)), layers.Dense(4 * 4 * 512, **plain), layers.Reshape((4, 4, 512))])
    generator.add(layers.BatchNormalization())
    generator.add(layers.ReLU())
    for channels in (256, 128, 64):
        generator.add(layers.Conv2DTranspose(channels, 4, 2, "same", **plain))
        generator.add(layers.BatchNormalization())
        generator.add(layers.ReLU())
    generator.add(layers.Conv2DTranspose(3, 4, 2, "same", activation="tanh", dtype="float32", **plain))
    discriminator = Sequential([Input(shape)])
    for channels in (64, 128, 256, 512):
        discriminator.add(layers.Conv2D(channels, 4, 2, "same", **plain))
        if channels > 64:
            discriminator.add(layers.BatchNormalization())
        discriminator.add(layers.LeakyReLU(0.2))
    discriminator.add(layers.Flatten())
    discriminator.add(layers.Dense(1, dtype="float32"))
    return generator, discriminator


def _sngan(shape: tuple[int, ...], width: int = 64) -> tuple[keras.Model, keras.Model]:
    z = Input((LATENT,))
    x = layers.Reshape((4, 4, width))(layers.Dense(16 * width)(z))
    for _ in range(3):
        y = layers.UpSampling2D()(layers.ReLU()(layers.BatchNormalization()(x)))
        y = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(width, 3, padding="same")(y)))
        y = layers.Conv2D(width, 3, padding="same")(y)
        x = y + layers.Conv2D(width, 1)(layers.UpSampling2D()(x))
    x = layers.ReLU()(layers.BatchNormalization()(x))
    generator = keras.Model(z, layers.Conv2D(3, 3, padding="same", activation="tanh", dtype="float32")(x))
    return generator, _sngan_discriminator(shape, width)


def _sngan_discriminator(shape: tuple[int, ...], width: int) -> keras.Model:
    def conv(size: int) -> layers.Layer:
        return layers.SpectralNormalization(layers.Conv2D(width, size, padding="same"))

    image = Input(shape)
    y = layers.AveragePooling2D(2)(conv(3)(layers.ReLU()(conv(3)(image))))
    x = y + conv(1)(layers.AveragePooling2D(2)(image))
    for shrinks in (True, False, False):
        y = conv(3)(layers.ReLU()(conv(3)(layers.ReLU()(x))))
        x = layers.AveragePooling2D(2)(y) + layers.AveragePooling2D(2)(conv(1)(x)) if shrinks else y + x
    x = layers.GlobalAveragePooling2D()(layers.ReLU()(x))
    return keras.Model(image, layers.SpectralNormalization(layers.Dense(1, dtype="float32"))(x))
