"""tf.train.Example, read without TensorFlow or protobuf: the few messages of protobuf that it is made of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


class BadMessage(Exception):
    """Bytes that are no message of protobuf."""


Feature = list[bytes] | np.ndarray  # bytes_list | float_list as float32 or int64_list as int64


def features(message: bytes) -> dict[str, Feature]:
    """Features of a tf.train.Example by name. Raises BadMessage."""
    found: dict[str, Feature] = {}
    for number, group in _fields(message):
        for entry_number, entry in _fields(group) if number == 1 else ():
            if entry_number == 1:
                parts = dict(_fields(entry))
                found[parts.get(1, b"").decode("utf-8", "replace")] = _feature(parts.get(2, b""))
    return found


def _feature(message: bytes) -> Feature:
    for number, content in _fields(message):
        values = list(_fields(content, keep_varints=True))
        if number == 1:
            return [value for _, value in values]
        if number == 2:
            return np.frombuffer(b"".join(value for _, value in values), "<f4")
        return np.array([part for _, value in values for part in _varints(value)], np.int64)
    return []


def _fields(message: bytes, keep_varints: bool = False) -> Iterator[tuple[int, bytes]]:
    """(number, contents) of the fields; numbers are skipped, or with `keep_varints` given as the bytes of a varint."""
    at, end = 0, len(message)
    while at < end:
        tag, at = _varint(message, at)
        number, wire = tag >> 3, tag & 7
        if wire == 2:
            length, at = _varint(message, at)
            stop = at + length
        elif wire == 0:
            _, stop = _varint(message, at)
        elif wire in (1, 5):
            stop = at + (8 if wire == 1 else 4)
        else:
            raise BadMessage(f"wire type {wire}")
        if stop > end:
            raise BadMessage("it ends too early")
        if wire == 2 or keep_varints:
            yield number, message[at:stop]
        at = stop


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise BadMessage("a number does not end")


def _varints(content: bytes) -> Iterator[int]:
    at = 0
    while at < len(content):
        value, at = _varint(content, at)
        yield value - 2**64 if value >= 2**63 else value
