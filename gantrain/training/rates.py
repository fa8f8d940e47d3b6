"""Learning rates as functions of the images seen, float32 scalars: a longer run never rewrites the past."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import tensorflow as tf

from gantrain.interfaces import ScheduleSettings, Tensor
from gantrain.training import catalog

Rate: TypeAlias = Callable[[Tensor], Tensor]  # images seen before this step, float32 -> learning rate


def build_constant(settings: catalog.Constant) -> Rate:
    """Builder: v(t) = start, times the warm-up."""
    return lambda images: settings.start * _warmup(settings, images)


def build_linear(settings: catalog.Linear) -> Rate:
    """Builder: v(t) = start + min(t / T, 1) (end - start), times the warm-up, with t images seen and T `images`."""

    def linear(images: Tensor) -> Tensor:
        share = tf.minimum(images / settings.images, 1.0)
        return (settings.start + share * (settings.end - settings.start)) * _warmup(settings, images)

    return linear


def build_cosine(settings: catalog.Cosine) -> Rate:
    """Builder: v(t) = end + (1 + cos(pi min(t / T, 1))) / 2 (start - end), times the warm-up (Loshchilov and Hutter 2017)."""

    def cosine(images: Tensor) -> Tensor:
        wave = 0.5 * (1.0 + tf.cos(math.pi * tf.minimum(images / settings.images, 1.0)))
        return (settings.end + wave * (settings.start - settings.end)) * _warmup(settings, images)

    return cosine


def _warmup(settings: ScheduleSettings, images: Tensor) -> Tensor:
    """min(t / warmup_images, 1), or 1 without a warm-up."""
    return tf.minimum(images / settings.warmup_images, 1.0) if settings.warmup_images else tf.constant(1.0)
