"""Regularisers and constraints: what is asked of the discriminator's weights themselves."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.objectives import catalog


def build_orthogonal(_: catalog.Orthogonal) -> Callable[[list[tf.Variable]], Tensor]:
    """Builder: sum over kernels W [n,m] of |W^T W * (1 - I)|^2. Brock et al. 2019 (arXiv:1809.11096), equation 3.

    The columns of W are the filters (the last axis of a kernel); vectors such as biases are left alone.
    """

    def orthogonal(variables: list[tf.Variable]) -> Tensor:
        return tf.add_n([tf.zeros([])] + [_overlap(variable) for variable in variables if len(variable.shape) > 1])

    return orthogonal


def _overlap(kernel: tf.Variable) -> Tensor:
    matrix = tf.reshape(tf.cast(kernel, tf.float32), [-1, kernel.shape[-1]])
    products = tf.matmul(matrix, matrix, transpose_a=True)
    return tf.reduce_sum(tf.square(products * (1.0 - tf.eye(tf.shape(products)[0]))))


def build_clip_weights(settings: catalog.ClipWeights) -> Callable[[list[tf.Variable]], None]:
    """Builder: w <- min(max(w, -limit), limit). Arjovsky et al. 2017 (arXiv:1701.07875), algorithm 1."""

    def clip(variables: list[tf.Variable]) -> None:
        for variable in variables:
            variable.assign(tf.clip_by_value(variable, -settings.limit, settings.limit))

    return clip
