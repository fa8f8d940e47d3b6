"""The framing of TFRecord files, read without TensorFlow.

A record is: length (uint64), masked crc of the length, data, masked crc of the data; all little-endian. crc is CRC-32C, and
mask(c) = rotr(c, 15) + 0xa282ead8 (tensorflow/core/lib/io/record_writer.h).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from gantrain.errors import DataError

POLYNOMIAL = 0x82F63B78  # CRC-32C, reflected
HEADER, FOOTER = 12, 4  # bytes around the data of a record
LARGEST_RECORD = 2**30  # bytes
CHECKED_TOGETHER = 2**24  # bytes, padded, whose crc is computed at once
COMPRESSED = {b"\x1f\x8b": "gzip", b"\x78\x9c": "zlib", b"\x78\x01": "zlib", b"\x78\xda": "zlib"}


def _table() -> np.ndarray:
    """crc of each pair of bytes [65536] uint32."""
    values = np.arange(65536, dtype=np.uint32)
    for _ in range(16):
        values = (values >> 1) ^ (values & 1) * np.uint32(POLYNOMIAL)
    return values


TABLE = _table()


def masked_crcs(messages: list[bytes]) -> np.ndarray:
    """Masked CRC-32C of each message [n] uint32, all at once, two bytes a step.

    Zero bytes in front leave a crc that starts at zero as it is, so messages are aligned at their ends; that the real crc starts
    at ffffffff is the same as inverting the first four bytes.
    """
    length = max(4, *(len(message) for message in messages))
    length += length % 2
    padded = np.zeros((len(messages), length), np.uint8)
    for row, message in zip(padded, messages, strict=True):
        row[length - len(message) :] = np.frombuffer(message, np.uint8)
        start = length - len(message)
        row[start : start + 4] ^= 255
    pairs = np.ascontiguousarray(padded.view("<u2").T).astype(np.uint32)
    crc = np.zeros(len(messages), np.uint32)
    for pair in pairs:
        crc ^= pair
        crc = TABLE[crc & 0xFFFF] ^ (crc >> 16)
    crc = _completed(crc ^ np.uint32(0xFFFFFFFF), messages)
    return ((crc >> 15) | (crc << 17)) + np.uint32(0xA282EAD8)


def _completed(crcs: np.ndarray, messages: list[bytes]) -> np.ndarray:
    """Messages shorter than four bytes have no four bytes to invert: one at a time."""
    for index, message in enumerate(messages):
        if len(message) < 4:
            crc = 0xFFFFFFFF
            for byte in message:
                crc = _shifted(crc ^ byte)
            crcs[index] = crc ^ 0xFFFFFFFF
    return crcs


def _shifted(crc: int) -> int:
    for _ in range(8):
        crc = (crc >> 1) ^ (POLYNOMIAL if crc & 1 else 0)
    return crc


@dataclass(frozen=True)
class Place:
    """Where the data of one record lies."""

    path: Path
    offset: int
    length: int

    def read(self) -> bytes:
        """The data. Raises DataError."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                return file.read(self.length)
        except OSError as error:
            raise DataError(f"{self.path} cannot be read ({error.strerror})") from error


def places(path: Path) -> Iterator[Place]:
    """Every record of a file, by hopping from length to length. Raises DataError that names the file and the record."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(2)
        file.seek(0)
        at, number = 0, 0
        while at < size:
            length = _length(path, file, number, start)
            if at + HEADER + length + FOOTER > size:
                raise DataError(f"{path} is cut off in record {number}; copy it again, or write it anew")
            yield Place(path, at + HEADER, length)
            at += HEADER + length + FOOTER
            number += 1
            file.seek(at)


def _length(path: Path, file: IO[bytes], number: int, start: bytes) -> int:
    head = file.read(HEADER)
    length, crc = struct.unpack("<QI", head) if len(head) == HEADER else (LARGEST_RECORD + 1, 0)
    if length <= LARGEST_RECORD and masked_crcs([head[:8]])[0] == crc:
        return length
    if number:
        raise DataError(f"{path}: the length of record {number} is damaged; write the file anew")
    if start in COMPRESSED:
        raise DataError(
            f"{path} is compressed ({COMPRESSED[start]}); records in any order need it unpacked: write it uncompressed"
        )
    raise DataError(
        f"{path} is no TFRecord file (the checksum of the first length is wrong); give files that TFRecordWriter wrote"
    )


def check(places_of_file: list[Place]) -> Iterator[int]:
    """Compare the checksum of every record; yields how many are checked so far. Raises DataError with the first bad one."""
    done, start = 0, 0
    for end in _batches(places_of_file):
        batch = places_of_file[start:end]
        messages, stored = zip(*(_with_crc(place) for place in batch), strict=True)
        bad = np.flatnonzero(masked_crcs(list(messages)) != np.array(stored, np.uint32))
        if len(bad):
            raise DataError(
                f"{batch[0].path}: record {start + int(bad[0])} is damaged (its checksum is wrong); write the file anew"
            )
        done, start = done + len(batch), end
        yield done


def _batches(found: list[Place]) -> Iterator[int]:
    longest, start = 0, 0
    for index, place in enumerate(found):
        longest = max(longest, place.length)
        if longest * (index + 1 - start) > CHECKED_TOGETHER and index > start:
            yield index
            longest, start = place.length, index
    yield len(found)


def _with_crc(place: Place) -> tuple[bytes, int]:
    content = Place(place.path, place.offset, place.length + FOOTER).read()
    return content[: place.length], int.from_bytes(content[place.length :], "little")
