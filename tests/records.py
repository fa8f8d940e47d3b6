"""Writes TFRecord files by the book, one byte at a time, independent of the reader under test."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def crc32c(data: bytes) -> int:
    """Bit by bit, as RFC 3720 defines it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    """The checksum of a record, little-endian."""
    crc = crc32c(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def write_records(path: Path, messages: Sequence[bytes]) -> Path:
    """A TFRecord file of these records."""
    with path.open("wb") as file:
        for message in messages:
            length = struct.pack("<Q", len(message))
            file.write(length + masked(length) + message + masked(message))
    return path


def varint(value: int) -> bytes:
    """A number of protobuf."""
    value %= 2**64
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf that holds bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def example(**features: object) -> bytes:
    """A tf.train.Example: bytes or text, lists of whole numbers, or arrays of floats."""
    entries = [field(1, field(1, name.encode()) + field(2, _feature(value))) for name, value in features.items()]
    return field(1, b"".join(entries))


def _feature(value: object) -> bytes:
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return field(1, field(1, value))
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return field(2, field(1, value.astype("<f4").tobytes()))
    return field(3, field(1, b"".join(varint(int(item)) for item in value)))  # pyright: ignore[reportGeneralTypeIssues]
