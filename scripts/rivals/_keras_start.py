"""Starting Keras for a rival: precision, seeds, a dataset as the guides write it."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import tensorflow as tf
from _worker import WORKLOADS, pictures


def start(precision: str) -> None:
    """Before the nets are built."""
    keras.utils.set_random_seed(1)
    if precision == "bfloat16":
        keras.mixed_precision.set_global_policy("mixed_bfloat16")


def batches(name: str) -> tf.data.Dataset:
    """Endless shuffled batches [B,H,W,C] in [-1, 1]."""
    workload = WORKLOADS[name]
    dataset = tf.data.Dataset.from_tensor_slices(pictures(workload)).shuffle(4096).repeat().batch(workload.batch, True)
    return dataset.map(lambda x: tf.cast(x, tf.float32) / 127.5 - 1.0, num_parallel_calls=2).prefetch(2)
