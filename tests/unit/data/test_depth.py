"""More than 8 bits per channel: each kind of file against values that were written into it by hand."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain.data.decode import decode
from gantrain.data.framing import Frame
from gantrain.data.inspect import inspect
from gantrain.errors import DataError

WHITE, BLUE = (255, 255, 255), (0, 0, 255)
COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # channels -> number in the PNG header
RANDOM = np.random.default_rng(0)


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png16(path: Path, values: np.ndarray, transparent: tuple[int, ...] | None = None) -> Path:
    """A PNG of 16 bits per channel [H,W,C], written by the book; each row with another filter of the first three."""
    height, width, channels = values.shape
    rows, previous, step = [], np.zeros(width * channels * 2, np.uint8), 2 * channels
    for number, row in enumerate(values):
        data = np.frombuffer(row.astype(">u2").tobytes(), np.uint8)
        left = np.concatenate([np.zeros(step, np.uint8), data[:-step]])
        rows.append(bytes([number % 3]) + (data - (0, left, previous)[number % 3]).astype(np.uint8).tobytes())
        previous = data
    header = struct.pack(">IIBBBBB", width, height, 16, COLOUR_TYPES[channels], 0, 0, 0)
    extra = b"" if transparent is None else chunk(b"tRNS", struct.pack(f">{len(transparent)}H", *transparent))
    body = chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return path


def random16(channels: int) -> np.ndarray:
    return RANDOM.integers(0, 65536, (8, 8, channels), np.uint16)


def frame(channels: int, **changes) -> Frame:
    return Frame(8, 8, channels, WHITE, **{"alpha": "keep" if channels == 4 else "composite", **changes})


def test_16_bit_colour_is_rounded_from_all_16_bits_and_not_cut_to_the_high_byte(tmp_path: Path):
    values = random16(3)
    out = decode(png16(tmp_path / "a.png", values), frame(3))
    assert (out == np.rint(values / 257)).all()
    assert (out != values >> 8).any()


def test_16_bit_colour_with_alpha_is_rounded_channel_by_channel(tmp_path: Path):
    values = random16(4)
    assert (decode(png16(tmp_path / "a.png", values), frame(4)) == np.rint(values / 257)).all()


def test_16_bit_gray_with_alpha_is_composited(tmp_path: Path):
    values = np.full((8, 8, 2), 100 * 257, np.uint16)
    values[0, 0, 1] = 0
    values[1, 1, 1] = 65535
    out = decode(png16(tmp_path / "a.png", values), frame(1))[..., 0]
    assert (out[0, 0], out[1, 1]) == (255, 100)
    assert abs(int(out[2, 2]) - (100 * 100 + 155 * 255) / 255) <= 0.5


def test_one_transparent_16_bit_colour_shows_the_background_and_its_neighbour_does_not(tmp_path: Path):
    values = np.full((8, 8, 3), 1000, np.uint16)
    values[0, 0] = (1000, 1000, 1001)  # the same high bytes
    out = decode(png16(tmp_path / "a.png", values, (1000, 1000, 1000)), Frame(8, 8, 3, BLUE))
    assert out[0, 0].tolist() == [4, 4, 4]
    assert (out[1:] == BLUE).all()


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_adobe_deflate"])
@pytest.mark.parametrize("dtype", ["<u2", ">u2"])
def test_16_bit_gray_tiff_is_rounded(tmp_path: Path, dtype: str, compression: str | None):
    values = random16(1)[..., 0]
    Image.fromarray(values.astype(dtype)).save(tmp_path / "a.tif", compression=compression)
    assert (decode(tmp_path / "a.tif", frame(1))[..., 0] == np.rint(values / 257)).all()


def tiff16(path: Path, values: np.ndarray, order: str) -> Path:
    """An uncompressed 16-bit RGB TIFF [H,W,3] of the byte order `<` or `>`."""
    height, width, _ = values.shape
    pixels = values.astype(f"{order}u2").tobytes()
    entries = [
        (256, 3, width),
        (257, 3, height),
        (258, 3, 16),
        (259, 3, 1),
        (262, 3, 2),
        (273, 4, 8),
        (277, 3, 3),
        (278, 3, height),
    ]
    entries += [(279, 4, len(pixels)), (284, 3, 1)]
    table = struct.pack(f"{order}H", len(entries))
    for tag, kind, value in sorted(entries):
        packed = struct.pack(f"{order}I", value) if kind == 4 else struct.pack(f"{order}HH", value, 0)
        if tag == 258:  # three numbers do not fit into the entry: they stand behind the table
            packed = struct.pack(f"{order}I", 8 + len(pixels) + 2 + 12 * len(entries) + 4)
        table += struct.pack(f"{order}HHI", tag, kind, 3 if tag == 258 else 1) + packed
    table += struct.pack(f"{order}I", 0) + struct.pack(f"{order}HHH", 16, 16, 16)
    start = (b"II*\x00" if order == "<" else b"MM\x00*") + struct.pack(f"{order}I", 8 + len(pixels))
    path.write_bytes(start + pixels + table)
    return path


@pytest.mark.parametrize("order", ["<", ">"])
def test_16_bit_colour_tiff_is_rounded_from_all_16_bits(tmp_path: Path, order: str):
    values = random16(3)
    assert (decode(tiff16(tmp_path / "a.tif", values, order), frame(3)) == np.rint(values / 257)).all()


def test_float_tiff_needs_a_range_and_is_scaled_by_it(tmp_path: Path):
    values = np.linspace(-1, 3, 64, dtype=np.float32).reshape(8, 8)
    Image.fromarray(values).save(tmp_path / "a.tiff")
    out = decode(tmp_path / "a.tiff", frame(1, value_range=(-1, 3)))[..., 0]
    assert (out == np.rint((values.astype(np.float64) + 1) / 4 * 255)).all()
    with pytest.raises(DataError, match=r"a\.tiff: holds float32 values from -1 to 3, which have no natural range; declare"):
        decode(tmp_path / "a.tiff", frame(1))
    with pytest.raises(DataError, match=r"50 % of its values lie outside value_range \[-1, 1\]; they go from -1 to 3"):
        decode(tmp_path / "a.tiff", frame(1, value_range=(-1, 1)))


def test_a_float_picture_with_nan_is_refused_by_name(tmp_path: Path):
    values = np.zeros((8, 8), np.float32)
    values[3, 4] = np.nan
    Image.fromarray(values).save(tmp_path / "a.tiff")
    with pytest.raises(DataError, match=r"a\.tiff: holds 1 value not finite"):
        decode(tmp_path / "a.tiff", frame(1, value_range=(0, 1)))
    assert "not finite" in str(inspect(tmp_path / "a.tiff").cause)


def test_12_bit_values_in_16_bits_are_scaled_by_a_declared_range(tmp_path: Path):
    values = RANDOM.integers(0, 4096, (8, 8, 1), np.uint16)
    out = decode(png16(tmp_path / "a.png", values), frame(1, value_range=(0, 4095)))
    assert (out == np.rint(values / 4095 * 255)).all()


@pytest.mark.parametrize(
    ("channels", "expected"),
    [(1, ("I;16", 16, "none")), (2, ("RGBA", 16, "transparent")), (3, ("RGB", 16, "none")), (4, ("RGBA", 16, "transparent"))],
)
def test_the_scan_knows_depth_and_alpha(tmp_path: Path, channels: int, expected: tuple[str, int, str]):
    values = random16(channels)
    facts = inspect(png16(tmp_path / "a.png", values))
    assert (facts.mode, facts.bits, facts.alpha) == expected
    assert (facts.low, facts.high) == (values.min(), values.max())


@pytest.mark.parametrize(("colours", "bits"), [(2, 1), (4, 2), (16, 4), (200, 8)])
def test_the_scan_knows_packed_palettes(tmp_path: Path, colours: int, bits: int):
    image = Image.fromarray(RANDOM.integers(0, colours, (16, 16), np.uint8), "P")
    image.putpalette(RANDOM.integers(0, 256, 3 * colours, np.uint8).tobytes())
    image.save(tmp_path / "a.png", bits=bits)
    facts = inspect(tmp_path / "a.png")
    assert (facts.mode, facts.bits) == ("P", bits)
    assert (decode(tmp_path / "a.png", Frame(16, 16, 3, WHITE)) == np.asarray(image.convert("RGB"))).all()
