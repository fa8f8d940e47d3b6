"""The most that one convolution reaches on this machine: GFLOP/s, the ceiling that the networks are compared with."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # the better of the two kernels, whatever a rival takes

import tensorflow as tf
from _worker import arguments, serve

SIDE, CHANNELS, BATCH = 32, 256, 16
GFLOP = 2e-9 * BATCH * SIDE**2 * 9 * CHANNELS**2


def main() -> None:
    """An "image" here is one GFLOP."""
    _, precision = arguments()
    x, kernel = tf.random.normal([BATCH, SIDE, SIDE, CHANNELS]), tf.random.normal([3, 3, CHANNELS, CHANNELS])
    dtype = tf.as_dtype(precision)

    @tf.function
    def convolve(values: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
        return tf.nn.conv2d(values, weights, 1, "SAME")

    def run(steps: int) -> None:
        for _ in range(steps):
            convolve(tf.cast(x, dtype), tf.cast(kernel, dtype))

    serve(GFLOP, run)  # type: ignore[arg-type]


main()
