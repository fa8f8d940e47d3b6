"""Folders where every picture has more than 8 bits: float32 in the units of the files, nothing rounded (free of TensorFlow).

The steps are those of 8-bit pictures (transparency, channels, size), each channel as one of Pillow's float pictures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from gantrain.data.depth import check_range, split
from gantrain.data.framing import Frame, sized
from gantrain.data.opening import Unusable
from gantrain.interfaces import Range

FULL_16_BIT: Range = (0.0, 65535.0)
LUMA = np.array([19595, 38470, 7471], np.float64) / 65536  # Pillow's weights of red, green, blue


def range_of(frame: Frame) -> Range:
    """Lowest and highest value of the pictures: the declared range, or all that 16 bits can hold."""
    return frame.value_range or FULL_16_BIT


def framed_deep(values: np.ndarray, transparent: Any, turn: Image.Transpose | None, frame: Frame) -> np.ndarray:
    """Values [h,w] or [h,w,c] in the frame, float32 [H,W,C]; exact where nothing has to be mixed or resized.

    `transparent` is the one transparent value that a PNG may name, or None; `turn` brings the picture upright. Alpha, where it is
    kept, becomes a channel of the same range. Raises Unusable for values outside the range or not finite.
    """
    colour, alpha = split(values, transparent)
    check_range(colour, range_of(frame))
    paper = _background(frame)
    planes = _in_channels(colour.astype(np.float32), len(paper))
    share = np.ones((*planes.shape[:2], 1), np.float32) if alpha is None else (alpha / 65535).astype(np.float32)
    if frame.alpha == "error" and share.min() < 1:
        raise Unusable("has transparent pixels, and data.source.alpha is error; write alpha: composite, or flatten it")
    if frame.alpha == "keep":
        return _kept(planes, share, turn, frame)
    return _clipped(_sized(planes * share + paper * (1 - share), paper, turn, frame), frame)


def _background(frame: Frame) -> np.ndarray:
    """The background's level in the range, of each colour [1 or 3]."""
    low, high = range_of(frame)
    levels = np.array(frame.background, np.float64) / 255
    if frame.channels == 1:
        levels = np.atleast_1d(levels @ LUMA)
    return (low + (high - low) * levels).astype(np.float32)


def _in_channels(colour: np.ndarray, wanted: int) -> np.ndarray:
    """Gray to colour, or colour to gray by Pillow's weights."""
    if colour.shape[-1] == wanted:
        return colour
    return np.repeat(colour, 3, -1) if wanted == 3 else (colour.astype(np.float64) @ LUMA).astype(np.float32)[..., None]


def _kept(planes: np.ndarray, share: np.ndarray, turn: Image.Transpose | None, frame: Frame) -> np.ndarray:
    """Colour and alpha; colours count by their alpha where they are mixed, and those under alpha 0 become the background."""
    low, high = range_of(frame)
    paper = _background(frame)
    alpha = np.clip(_sized(share, np.zeros(1), turn, frame), 0, 1)
    if alpha.shape == share.shape and turn is None:
        colour = planes
    else:
        colour = _sized(planes * share, np.zeros(3), turn, frame) / np.where(alpha > 0, alpha, 1)
    colour = _clipped(np.where(alpha > 0, colour, paper), frame)
    return np.concatenate([colour, low + (high - low) * alpha], -1).astype(np.float32)


def _clipped(values: np.ndarray, frame: Frame) -> np.ndarray:
    """Resizing may overshoot."""
    return np.clip(values, *range_of(frame)).astype(np.float32)


def _sized(planes: np.ndarray, fill: np.ndarray, turn: Image.Transpose | None, frame: Frame) -> np.ndarray:
    """Turned upright and in the frame's size [H,W,c], padded with `fill` [c]."""
    done: list[np.ndarray] = []
    for plane, level in zip(np.moveaxis(planes, -1, 0), fill, strict=True):
        picture = Image.fromarray(np.ascontiguousarray(plane, np.float32))
        upright = picture if turn is None else picture.transpose(turn)
        done.append(np.asarray(sized(upright, frame, float(level))))
    return np.stack(done, -1)
