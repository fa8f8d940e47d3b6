"""Micro-batches: the same computation part by part, one after the other, so that only one part's activations are held."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tensorflow as tf

from gantrain.interfaces import Tensor


def mean_over_parts(compute: Callable[[Tensor], list[Tensor]], parts: int, shapes: Sequence[Sequence[int]]) -> list[Tensor]:
    """Mean over index = 0 ... parts-1 of the float32 tensors compute(index), whose shapes are given.

    Sums are float32 whatever the precision of the parts.
    """

    def body(index: Tensor, *sums: Tensor) -> tuple[Tensor, ...]:
        values = compute(index)
        return (index + 1, *(total + tf.cast(value, tf.float32) for total, value in zip(sums, values, strict=True)))

    start = (tf.constant(0), *(tf.zeros(shape) for shape in shapes))
    _, *sums = tf.while_loop(lambda index, *_: index < parts, body, start, parallel_iterations=1, maximum_iterations=parts)
    return [total / parts for total in sums]
