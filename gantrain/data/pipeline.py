"""Batches for training: a source in its order, as float32 in the range the networks see."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import tensorflow as tf

from gantrain.data.order import AS_IT_IS, Element, Order, batch_axis, index_batches
from gantrain.data.pairing import pairing_of
from gantrain.data.traced import TracedFiles
from gantrain.data.transforms import RangeTransform
from gantrain.errors import DataError, GantrainError, UsageError
from gantrain.interfaces import Source, Tensor
from gantrain.spec.model import Data

LOADING_THREADS = max(2, min(8, os.cpu_count() or 1))  # batches read at the same time from a source that is not in memory
DECODING_THREADS = os.cpu_count() or 1  # fixed: beside other work on the machine, tf.data's tuning ends up far below
FINISHING_THREADS = max(1, DECODING_THREADS // 4)  # what a file needs after decoding takes a fifth of the decoding's time
PREFETCHED_BATCHES = 2

_failures: dict[str, GantrainError] = {}  # TensorFlow passes only text through a dataset: marker in the text -> the error
_numbers = itertools.count()


def batches(
    source: Source, data: Data, order: Order, start_batch: int, with_labels: bool, transform: RangeTransform
) -> tf.data.Dataset:
    """Endless dataset of {"real": [B,*shape] float32, "labels": [B] int64 (if `with_labels`)}, from batch `start_batch` on.

    A source with targets adds "targets" [B,T] float32, one with sequences "sequence" [B] int64.
    Batch k holds the same bytes from whichever batch the dataset starts. Read it inside `data_errors(source)`.
    Raises UsageError for flips of vectors, labels that are missing, or a batch that can never be filled.
    """
    _check(source, data, with_labels)
    indices = index_batches(source.length, data, order, start_batch)
    traced = getattr(source, "traced", None)
    if isinstance(traced, TracedFiles) and data.epoch_end != "partial":  # smaller batches are not put together again
        fetched, forward = _decoded_in_the_graph(traced, indices, data.batch_size, transform), tf.identity
    else:
        fetched, forward = _fetched(source, indices, batch_axis(data)), transform.forward
    beside = {name: _on_cpu(array) for name, array in _beside(source, with_labels).items()}

    @AS_IT_IS
    def finish(element: Element) -> Element:
        values = element["values"]
        if "flip" in element:
            values = tf.where(element["flip"][:, None, None, None], tf.reverse(values, [2]), values)
        return {"real": forward(values), **{name: tf.gather(beside[name], element["index"]) for name in beside}}

    ready = fetched.map(finish, num_parallel_calls=1, deterministic=True).prefetch(PREFETCHED_BATCHES)
    return ready.with_options(_options())


def _beside(source: Source, with_labels: bool) -> dict[str, np.ndarray]:
    """What belongs to each example: name -> [N,...]."""
    pairing = pairing_of(source)
    labels = {"labels": source.labels} if with_labels and source.labels is not None else {}
    if pairing is None:
        return labels
    return {**labels, "targets": pairing.targets, **({} if pairing.sequences is None else {"sequence": pairing.sequences})}


def _fetched(source: Source, indices: tf.data.Dataset, batch: int | None) -> tf.data.Dataset:
    """Adds "values" [B,*shape] to each element, from memory or by `load`."""
    fetch = _fetch_from_memory(source, source.in_memory) if source.in_memory is not None else _fetch_by_load(source, batch)
    threads = 1 if source.in_memory is not None else LOADING_THREADS

    @AS_IT_IS
    def add_values(element: Element) -> Element:
        return {**element, "values": fetch(element["index"])}

    return indices.map(add_values, num_parallel_calls=threads, deterministic=True)


def _decoded_in_the_graph(
    traced: TracedFiles, indices: tf.data.Dataset, batch: int, transform: RangeTransform
) -> tf.data.Dataset:
    """The same by the fast road, "values" in the range of the networks.

    Files are read in groups: one by one, tf.data takes a quarter of the time; whole batches leave the cache, and their large
    arrays come from the system anew each time, zeroed page by page. Few threads finish them: more would wait for each other (the
    interpreter's lock) and take cores from decoding.
    """
    read = traced.group_reader()

    def framed(pixels: np.ndarray) -> np.ndarray:
        return transform.forward_array(traced.finish(pixels))

    def finish(element: Element) -> Element:
        values = tf.numpy_function(framed, [element.pop("decoded")], tf.float32, stateful=False)
        return {**element, "values": tf.ensure_shape(values, (traced.group, *traced.frame.shape))}

    groups = indices.rebatch(traced.group, drop_remainder=True).map(
        lambda element: {**element, "decoded": read(element["index"])}, num_parallel_calls=DECODING_THREADS, deterministic=True
    )
    finished = groups.map(finish, num_parallel_calls=FINISHING_THREADS, deterministic=True)
    return finished.rebatch(batch, drop_remainder=True)


def _check(source: Source, data: Data, with_labels: bool) -> None:
    if with_labels and source.labels is None:
        raise UsageError("labels are needed, but the source has none; use a source with labels, or nets without conditioning")
    if data.augment.horizontal_flip and len(source.shape) != 3:
        raise UsageError(f"data.augment.horizontal_flip is for pictures, not for examples of shape {source.shape}; switch it off")


def _on_cpu(array: np.ndarray) -> Tensor:
    """One tensor that dataset functions capture by reference, neither copied into a graph nor placed on an accelerator."""
    with tf.device("CPU:0"):
        return tf.constant(array)


def _fetch_from_memory(source: Source, array: np.ndarray) -> Callable[[Tensor], Tensor]:
    values = _on_cpu(_checked(array, (source.length, *source.shape), array.dtype))
    return lambda index: tf.gather(values, index)


def _fetch_by_load(source: Source, batch: int | None) -> Callable[[Tensor], Tensor]:
    dtype = source.load(np.zeros(1, np.int64)).dtype

    def load(indices: np.ndarray) -> np.ndarray:
        with _kept_for_later():
            return _checked(source.load(indices), (len(indices), *source.shape), dtype)

    def fetch(index: Tensor) -> Tensor:
        return tf.ensure_shape(tf.numpy_function(load, [index], tf.as_dtype(dtype)), (batch, *source.shape))

    return fetch


def _checked(values: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """What a source gave, if it is what a source must give."""
    if values.dtype not in (np.uint8, np.float32):
        raise DataError(f"the source gave {values.dtype}; uint8 or float32 is wanted: correct its `load`")
    if values.shape != shape or values.dtype != dtype:
        raise DataError(f"the source gave {values.dtype} {values.shape} instead of {dtype} {shape}; correct its `load`")
    if values.dtype != np.uint8 and not np.isfinite(values).all():
        raise DataError("the source gave values that are not finite (NaN or infinite); clean the data, or correct its `load`")
    return values


@contextmanager
def _kept_for_later() -> Iterator[None]:
    try:
        yield
    except GantrainError as error:
        marker = f"gantrain-failure-{next(_numbers)};"
        _failures[marker] = error
        raise RuntimeError(marker) from None  # TensorFlow logs what it can see of it


@contextmanager
def data_errors(source: Source) -> Iterator[None]:
    """Around everything that reads a dataset of `batches`: a DataError raised while loading leaves it as itself.

    TensorFlow would show it as an UnknownError with a traceback in the text; errors of its own decoders do not name the file,
    so then the files of `source` are looked at again.
    """
    try:
        yield
    except tf.errors.OpError as error:
        for marker in [marker for marker in _failures if marker in error.message]:
            raise _failures.pop(marker) from None
        traced = getattr(source, "traced", None)
        if isinstance(traced, TracedFiles):
            traced.recheck()
        raise


def _options() -> tf.data.Options:
    options = tf.data.Options()
    options.deterministic = True
    # Batches are global; replicas slice them. No worker may take every n-th batch.
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return options
