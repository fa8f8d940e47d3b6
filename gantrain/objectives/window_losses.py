"""Losses on the last K outputs, as pure functions (Z [B,K*D], target [B,T]) -> [B], computed in float32.

In the equations y_0 is the newest output, y_{K-1} the oldest one, and Z all of them, newest first.
"""

from __future__ import annotations

import tensorflow as tf

from gantrain.history_interfaces import WindowContext, WindowLoss
from gantrain.interfaces import Tensor
from gantrain.objectives import window_catalog as catalog


def build_norm_mse(_: catalog.NormMse, context: WindowContext) -> WindowLoss:
    """Builder of the loss on the norm."""
    del context
    return norm_mse


def build_mse(_: catalog.Mse, context: WindowContext) -> WindowLoss:
    """Builder of the mean squared distance."""
    return lambda z, target: mse(z, target, context.length)


def build_smoothness(settings: catalog.Smoothness, context: WindowContext) -> WindowLoss:
    """Builder of the mean squared change, with the distance of the newest output to the target where it is asked for."""

    def loss(z: Tensor, target: Tensor) -> Tensor:
        value = smoothness(z, context.length)
        if settings.fit == 0.0:
            return value
        return value + settings.fit * mse(z[:, : context.size], target, 1)

    return loss


def safe_norm(z: Tensor) -> Tensor:
    """||z|| of each row of [B,n], with the gradient 0 at z = 0, where that of `tf.norm` is NaN."""
    squared = tf.reduce_sum(tf.square(z), axis=1)
    positive = squared > 0
    return tf.where(positive, tf.sqrt(tf.where(positive, squared, 1.0)), 0.0)


def norm_mse(z: Tensor, target: Tensor) -> Tensor:
    """(||Z|| - target)^2, [B]; the target is one number per example, [B,1]."""
    z, target = tf.cast(z, tf.float32), tf.cast(target, tf.float32)
    return tf.square(safe_norm(z) - target[:, 0])


def mse(z: Tensor, target: Tensor, length: int) -> Tensor:
    """mean (Z - target)^2, [B]; a target of D numbers is compared with each of the K outputs."""
    z, target = tf.cast(z, tf.float32), tf.cast(target, tf.float32)
    if target.shape[1] != z.shape[1]:
        target = tf.tile(target, [1, length])
    return tf.reduce_mean(tf.square(z - target), axis=1)


def smoothness(z: Tensor, length: int) -> Tensor:
    """mean over k = 0 ... K-2 of (y_k - y_{k+1})^2, a mean over the numbers of an output too, [B]."""
    z = tf.cast(z, tf.float32)
    size = z.shape[1] // length
    return tf.reduce_mean(tf.square(z[:, :-size] - z[:, size:]), axis=1)
