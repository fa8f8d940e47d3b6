"""Pictures for the run directory: grids of samples, and points in the plane for two-dimensional data."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gantrain.rundir.files import write_atomically

Bytes = NDArray[np.uint8]
Points = NDArray[np.float32] | NDArray[np.float64]

PNG_CHANNELS = (1, 2, 3, 4)  # gray, gray + alpha, RGB, RGBA
_PAPER = 255
_REAL_COLOUR = (178, 178, 178)
_FAKE_COLOUR = (214, 39, 40)
_FRAME_COLOUR = (90, 90, 90)
_COMPRESSION = 6  # fixed, because equal pictures must be equal bytes


class Limits(NamedTuple):
    """The part of the plane that a scatter picture shows."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float


def best_layout(count: int) -> tuple[int, int]:
    """(rows, columns) for `count` pictures: fewest empty cells, then nearest to a square; at most about twice as wide as high."""
    if count < 1:
        raise ValueError(f"a grid needs at least one picture, not {count}")
    square = math.isqrt(count - 1) + 1
    choices = [(math.ceil(count / columns), columns) for columns in range(square, math.ceil(1.5 * square) + 1)]
    return min(choices, key=lambda choice: (choice[0] * choice[1] - count, choice[1]))


def in_class_rows(images: Bytes, classes: int) -> tuple[Bytes, int, int]:
    """Images [n,...] of classes in turn (image i is of class i modulo `classes`) -> one row per class, rows, columns.

    Rows of classes that come once less than others end with white cells.
    """
    columns = math.ceil(len(images) / classes)
    cells = np.full((columns * classes, *images.shape[1:]), _PAPER, np.uint8)
    cells[: len(images)] = images
    return np.swapaxes(cells.reshape(columns, classes, *images.shape[1:]), 0, 1).reshape(cells.shape), classes, columns


def tile(images: Bytes, rows: int, columns: int, pad: int = 2) -> Bytes:
    """Images [n,h,w,c] on white paper -> [rows*(h+pad)+pad, columns*(w+pad)+pad, c], row by row; the last cells may be empty."""
    count, height, width, channels = images.shape
    if count > rows * columns:
        raise ValueError(f"{count} pictures do not fit into {rows} rows of {columns}")
    cell_height, cell_width = height + pad, width + pad
    paper = np.full((rows * cell_height + pad, columns * cell_width + pad, channels), _PAPER, np.uint8)
    for index, image in enumerate(images):
        top, left = pad + index // columns * cell_height, pad + index % columns * cell_width
        paper[top : top + height, left : left + width] = image
    return paper


def png_bytes(image: Bytes) -> bytes:
    """A picture [H,W,c] as PNG; c is one of PNG_CHANNELS, and one channel stays one channel. Equal pictures give equal bytes."""
    from PIL import Image  # late: the commands that draw nothing start faster without it

    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] not in PNG_CHANNELS:
        raise ValueError(f"a PNG needs uint8 [H,W,c] with c in {PNG_CHANNELS}, not {image.dtype} {list(image.shape)}")
    buffer = io.BytesIO()
    pixels = np.ascontiguousarray(image[:, :, 0] if image.shape[2] == 1 else image)
    Image.fromarray(pixels).save(buffer, format="PNG", compress_level=_COMPRESSION)
    return buffer.getvalue()


def write_png(path: Path, image: Bytes) -> None:
    """Write a picture [H,W,c] atomically. Raises RunError if the file cannot be written."""
    write_atomically(path, png_bytes(image))


def limits_around(points: Points, margin: float = 0.25) -> Limits:
    """A square around `points` [n,2], wider than their extent by `margin` on each side (1 unit for points all in one place)."""
    low, high = points.min(axis=0).astype(float), points.max(axis=0).astype(float)
    half = (float((high - low).max()) or 2.0) * (0.5 + margin)
    x, y = (low + high) / 2
    return Limits(float(x) - half, float(x) + half, float(y) - half, float(y) + half)


def scatter(points: Points, reference: Points | None, limits: Limits, size: int = 512) -> Bytes:
    """Fake points [n,2] in red over real ones [m,2] in gray -> [size,size,3]; y points up, points outside lie on the edge."""
    picture = np.full((size, size, 3), _PAPER, np.uint8)
    if reference is not None:
        _dots(picture, reference, limits, _REAL_COLOUR)
    _dots(picture, points, limits, _FAKE_COLOUR)
    for edge in (picture[0], picture[-1], picture[:, 0], picture[:, -1]):
        edge[:] = _FRAME_COLOUR
    return picture


def _dots(picture: Bytes, points: Points, limits: Limits, colour: tuple[int, int, int]) -> None:
    if not np.isfinite(points).all():
        raise ValueError("points to draw are not finite")
    last = picture.shape[0] - 1
    x = (points[:, 0] - limits.x_low) / (limits.x_high - limits.x_low) * last
    y = (limits.y_high - points[:, 1]) / (limits.y_high - limits.y_low) * last
    column = np.clip(np.rint(x), 2, last - 2).astype(np.int64)
    row = np.clip(np.rint(y), 2, last - 2).astype(np.int64)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            picture[row + down, column + right] = colour
