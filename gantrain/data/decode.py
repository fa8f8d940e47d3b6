"""One picture file -> uint8 or float32 [H,W,C], whatever its format and mode (Pillow only, free of TensorFlow)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from gantrain.data.deep import framed_deep
from gantrain.data.depth import deep_values, eight_bit
from gantrain.data.framing import Frame, framed
from gantrain.data.opening import Unusable, opened, read
from gantrain.data.scan import printable

ORIENTATION = 0x0112  # tag of EXIF
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
CONVERTIBLE = frozenset({"1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "HSV"})


def decode(path: Path, frame: Frame) -> np.ndarray:
    """The picture in its frame [H,W,C]: uint8, or float32 where the frame is deep. Raises DataError that names the file.

    The format is judged by content; of animations and multi-page files the first frame is taken. Orientation (EXIF) is applied,
    transparency by the frame's rule, then the size by the frame's rule with Pillow's antialiased bicubic filter (the filter of
    clean-fid; less ringing at hard edges than Lanczos). 16-bit values are rounded to v / 257, or scaled from the frame's
    value_range, which float pictures need. Colour profiles are ignored.
    """
    return decode_content(read(path), printable(str(path)), frame)


def decode_content(content: bytes, place: str, frame: Frame) -> np.ndarray:
    """The same for the contents of a file; `place` names it in errors."""
    with opened(content, place) as image:
        return finish(image, load(image, content), frame)


def load(image: Image.Image, content: bytes) -> np.ndarray | None:
    """Decode the picture; its values [H,W] or [H,W,C] if it has more than 8 bits per channel. Raises Unusable for odd modes."""
    values = deep_values(image, content)
    if values is None:
        image.load()
    if values is None and image.mode not in CONVERTIBLE:
        raise Unusable(f"has the colour mode {image.mode}, which gantrain does not read; convert it to RGB")
    return values


def finish(image: Image.Image, values: np.ndarray | None, frame: Frame) -> np.ndarray:
    """What `load` gave, in its frame: 8 bits per channel (float32 in a deep frame), turned as EXIF says, by the frame's rules."""
    turn, transparent = TURNS.get(orientation(image)), image.info.get("transparency")
    if frame.deep and values is None:
        raise Unusable("has 8 bits per channel, and had more when the folder was scanned; start again")
    if frame.deep and values is not None:
        return framed_deep(values, transparent, turn, frame)
    shallow = image if values is None else eight_bit(values, transparent, frame.value_range)
    return framed(shallow if turn is None else shallow.transpose(turn), frame)


def orientation(image: Image.Image) -> int:
    """1..8 as in EXIF, after loading (a PNG may hold it behind the pixels); 1, upright, where it is missing or damaged."""
    try:
        found = int(image.getexif().get(ORIENTATION, 1))
    except Exception:  # EXIF is foreign data: struct.error, ValueError, TypeError, SyntaxError ...
        return 1
    return found if found in TURNS else 1
