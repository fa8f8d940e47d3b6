"""Pictures with more than 8 bits per channel, at full precision, and their 8-bit levels (free of TensorFlow).

Pillow has no mode for 16-bit colour: it keeps the high bytes. Its unpackers exist for both byte orders, so decoding once more in
the other order gives the low bytes.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

from gantrain.data.opening import PILLOW_FORMATS, Unusable
from gantrain.data.words import counted
from gantrain.interfaces import Range

OTHER_ORDER = {"B": "L", "L": "B", "N": "B" if np.little_endian else "L"}
ONE_BAND = ("I", "F")  # and I;16, I;16B: modes of one band with more than 8 bits


def bits_of(image: Image.Image) -> int:
    """Bits per channel in the file: 1, 2, 4, 8, 16 or 32. Ask before the picture is loaded."""
    if image.mode == "F" or (image.mode == "I" and image.format != "PNG"):
        return 32
    if image.mode.startswith("I") or raw_mode(image)[-3:-1] == "16":
        return 16
    if image.mode == "1":
        return 1
    packed = raw_mode(image).rpartition(";")[2]
    return int(packed) if packed in ("1", "2", "4") else 8


def raw_mode(image: Image.Image) -> str:
    """Pillow's name for the layout of the pixels in the file, such as RGB;16B; empty where its decoder has none."""
    tiles: Any = getattr(image, "tile", None)  # of files, not of pictures made in memory
    arguments: Any = tiles[0][3] if tiles else ""
    first = arguments[0] if isinstance(arguments, tuple) and arguments else arguments
    return first if isinstance(first, str) else ""


def deep_values(image: Image.Image, content: bytes) -> np.ndarray | None:
    """Values [H,W] or [H,W,C] of a picture with more than 8 bits per channel, loaded; None for all others, not loaded."""
    layout = raw_mode(image)
    if image.mode.startswith(ONE_BAND):
        image.load()
        values = np.asarray(image)
        return values.astype(np.uint16) if image.format == "PNG" else values  # some Pillow versions give PNG as mode I
    if layout == "LA;16B":  # four bytes a pixel, which come out untouched
        pairs = _loaded_as(image, "RGBA").astype(np.uint16)
        return pairs[..., ::2] << 8 | pairs[..., 1::2]
    if layout[-3:-1] != "16" or layout[:-1] not in ("RGB;16", "RGBA;16"):
        return None
    with Image.open(io.BytesIO(content), formats=PILLOW_FORMATS) as again:
        low = _loaded_as(again, layout[:-1] + OTHER_ORDER[layout[-1]])
    image.load()
    return np.asarray(image).astype(np.uint16) << 8 | low


def _loaded_as(image: Any, layout: str) -> np.ndarray:
    """Decode as if the pixels had another layout of the same size."""
    image.tile = [_with_layout(tile, layout) for tile in image.tile]
    image.load()
    return np.asarray(image)


def _with_layout(tile: Any, layout: str) -> Any:
    arguments = (layout, *tile.args[1:]) if isinstance(tile.args, tuple) else layout
    return tile._replace(args=arguments)


def eight_bit(values: np.ndarray, transparent: Any, value_range: Range | None) -> Image.Image:
    """Deep values as an 8-bit picture L, LA, RGB or RGBA: round(255 * (v - low) / (high - low)), alpha always by 65535.

    `transparent` is the one transparent value that a PNG may name, or None. Raises Unusable for values outside the range, for
    values that are not finite, and for float or 32-bit pictures without a range.
    """
    colour, alpha = split(values, transparent)
    levels = [to_levels(colour, value_range), *([] if alpha is None else [to_levels(alpha, None)])]
    joined = np.concatenate(levels, axis=-1)
    return Image.fromarray(joined[..., 0] if joined.shape[-1] == 1 else joined)


def split(values: np.ndarray, transparent: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Colour [H,W,1 or 3] of deep values [H,W] or [H,W,C], and alpha [H,W,1] of 0..65535, or None."""
    planes = values if values.ndim == 3 else values[..., None]
    count = planes.shape[-1]
    if count in (2, 4):
        return planes[..., : count - 1], planes[..., count - 1 :]
    return planes, _alpha_of(planes, transparent)


def _alpha_of(colour: np.ndarray, transparent: Any) -> np.ndarray | None:
    if transparent is None or isinstance(transparent, bytes):
        return None
    return np.where((colour == np.asarray(transparent)).all(axis=-1, keepdims=True), 0, 65535).astype(np.uint16)


def to_levels(values: np.ndarray, value_range: Range | None) -> np.ndarray:
    """uint8 levels of deep values."""
    if value_range is None and values.dtype.kind == "u" and values.itemsize == 2:
        return ((values.astype(np.uint32) + 128) // 257).astype(np.uint8)  # round(v / 257); 257 is odd, so there are no ties
    low, high = float(values.min()), float(values.max())
    if value_range is None:
        raise Unusable(
            f"holds {values.dtype} values from {low:g} to {high:g}, which have no natural range; declare "
            "data.source.value_range: [lowest, highest]"
        )
    check_range(values, value_range)
    share = (values.astype(np.float64) - value_range[0]) / (value_range[1] - value_range[0])
    return np.rint(255 * share).astype(np.uint8)


def check_range(values: np.ndarray, value_range: Range) -> None:
    """Raises Unusable for values that are not finite, or outside the range."""
    bad = values.size - int(np.isfinite(values).sum())
    if bad:
        raise Unusable(f"holds {counted(bad, 'value')} not finite (NaN or infinite); clean it, or remove it")
    outside = float(((values < value_range[0]) | (values > value_range[1])).mean())
    if outside:
        raise Unusable(
            f"{100 * outside:.3g} % of its values lie outside value_range [{value_range[0]:g}, {value_range[1]:g}]; they go from "
            f"{values.min():g} to {values.max():g}. Declare the true range"
        )
