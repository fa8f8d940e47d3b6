"""The fast road for folders too large for memory: files are decoded inside the graph, where Python is not asked for each one.

Only for pictures that need nothing but decoding: all PNG or all JPEG, 8 bits, upright, of the frame's size already. A test proves
that the pixels are Pillow's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from gantrain.data.framing import MODES, Frame
from gantrain.data.inspect import PictureFacts
from gantrain.interfaces import Tensor

PLAIN_JPEG = ("L", "RGB")


@dataclass(frozen=True)
class TracedFiles:
    """`element` decodes one file in the graph, `finish` brings a batch of them into the frame. `recheck` finds what broke."""

    paths: tuple[str, ...]
    format: str  # PNG | JPEG
    channels: int  # as decoded: 1, 3, or 4 where there is alpha
    frame: Frame
    recheck: Callable[[], None]

    @property
    def decoded_shape(self) -> tuple[int, int, int]:
        """Of one element."""
        return (self.frame.height, self.frame.width, self.channels)

    def element_reader(self) -> Callable[[Tensor], Tensor]:
        """Function (index) -> uint8 [H,W,channels], to be traced."""
        import tensorflow as tf

        with tf.device("CPU:0"):
            paths = tf.constant(self.paths)

        def read(index: Tensor) -> Tensor:
            content = tf.io.read_file(tf.gather(paths, index))
            if self.format == "JPEG":
                pixels = tf.io.decode_jpeg(content, self.channels, dct_method="INTEGER_ACCURATE")
            else:
                pixels = tf.io.decode_png(content, self.channels)
            return tf.ensure_shape(pixels, self.decoded_shape)

        return read

    def finish(self, pixels: np.ndarray) -> np.ndarray:
        """Decoded [B,H,W,channels] -> [B,H,W,C] in the frame: the batch is one tall picture for Pillow."""
        frame, shape = self.frame, (len(pixels), *self.frame.shape)
        if self.channels == frame.channels and frame.channels != 4:
            return pixels
        if frame.channels == 4:
            kept = np.array(pixels)
            kept[kept[..., 3] == 0] = (*frame.background, 0)
            return kept
        tall = Image.fromarray(pixels.reshape(-1, frame.width, self.channels))
        if self.channels == 4:
            tall = Image.alpha_composite(Image.new("RGBA", tall.size, (*frame.background, 255)), tall)
        return np.asarray(tall.convert(MODES[frame.channels])).reshape(shape)


def traced_files(
    root: Path, names: Sequence[str], facts: Sequence[PictureFacts], frame: Frame, recheck: Callable[[], None]
) -> TracedFiles | None:
    """The fast road for these files, or None if one of them needs more than decoding."""
    formats = {item.format for item in facts}
    if formats not in ({"PNG"}, {"JPEG"}) or not all(_is_plain(item, frame) for item in facts):
        return None
    has_alpha = frame.channels == 4 or any(item.alpha == "transparent" for item in facts)  # opaque alpha may be dropped
    all_gray = frame.channels == 1 and all(item.mode in ("L", "1") for item in facts)
    channels = 4 if has_alpha else 1 if all_gray else 3
    if channels == 4 and (formats == {"JPEG"} or any(map(_has_no_alpha_to_add, facts))):
        return None
    return TracedFiles(tuple(str(root / name) for name in names), formats.pop(), channels, frame, recheck)


def _has_no_alpha_to_add(facts: PictureFacts) -> bool:
    """TensorFlow's PNG decoder gives a wrong alpha to opaque pictures with a palette or packed pixels."""
    return facts.alpha == "none" and (facts.mode == "P" or facts.bits < 8)


def _is_plain(facts: PictureFacts, frame: Frame) -> bool:
    right_size = (facts.width, facts.height) == (frame.width, frame.height)
    upright = facts.orientation == 1 and not facts.animated
    return right_size and upright and facts.bits <= 8 and (facts.format == "PNG" or facts.mode in PLAIN_JPEG)
