"""The fast road for folders too large for memory: plain files are decoded inside the graph, where Python is not asked for each.

Plain is what needs nothing but decoding: PNG or JPEG, 8 bits, upright, of the frame's size already. The others of the folder
come through Pillow, one by one, to the same place. A test proves that the pixels are Pillow's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from PIL import Image

from gantrain.data.framing import MODES, Frame, composited
from gantrain.data.inspect import PictureFacts
from gantrain.interfaces import Tensor

PNG, FILLED_PNG, JPEG, PILLOW = range(4)  # roads; a filled PNG gets an opaque alpha, where TensorFlow's own may be wrong
LARGEST_GROUP, GROUP_VALUES = 16, 2**18  # pictures; values of a group: a megabyte as float32
PLAIN_SHARE = 0.5  # of the files, from which on the fast road is taken


@dataclass(frozen=True)
class TracedFiles:
    """`group_reader` decodes some files in the graph, `finish` brings them into the frame.

    `load` (indices [n]) -> uint8 [n,H,W,C], in the frame, is Pillow's road. `recheck` finds what broke.
    """

    paths: tuple[str, ...]
    roads: tuple[int, ...]  # of each file
    channels: int  # as decoded: 1, 3, or 4 where there is alpha
    frame: Frame
    load: Callable[[np.ndarray], np.ndarray]
    recheck: Callable[[], None]

    @property
    def decoded_shape(self) -> tuple[int, int, int]:
        """Of one picture."""
        return (self.frame.height, self.frame.width, self.channels)

    @property
    def group(self) -> int:
        """Pictures that are read together: so few that they stay in the processor's cache."""
        return max(1, min(LARGEST_GROUP, GROUP_VALUES // int(np.prod(self.frame.shape))))

    def group_reader(self) -> Callable[[Tensor], Tensor]:
        """Function (indices [group]) -> uint8 [group,H,W,channels], to be traced."""
        import tensorflow as tf

        read_one = self._reader()

        def read(indices: Tensor) -> Tensor:
            return tf.stack([read_one(index) for index in tf.unstack(indices, self.group)])

        return read

    def _reader(self) -> Callable[[Tensor], Tensor]:
        """Function (index) -> uint8 [H,W,channels]."""
        import tensorflow as tf

        taken = sorted(set(self.roads))
        with tf.device("CPU:0"):
            paths, branches = tf.constant(self.paths), tf.constant(np.searchsorted(taken, self.roads), tf.int32)

        @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])  # traced once, not once for each picture of a group
        def read(index: Tensor) -> Tensor:
            path = tf.gather(paths, index)
            readers = [partial(self._read, road, path, index) for road in taken]
            pixels = readers[0]() if len(readers) == 1 else tf.switch_case(tf.gather(branches, index), readers)
            return tf.ensure_shape(pixels, self.decoded_shape)

        return read

    def _read(self, road: int, path: Tensor, index: Tensor) -> Tensor:
        """uint8 [H,W,channels] of the file at `path`, by one road."""
        import tensorflow as tf

        if road == PILLOW:
            return tf.numpy_function(self._by_pillow, [index], tf.uint8, stateful=False)
        content, colours = tf.io.read_file(path), self.channels if road == PNG else min(self.channels, 3)
        if road == JPEG:
            pixels = tf.io.decode_jpeg(content, colours, dct_method="INTEGER_ACCURATE")
        else:
            pixels = tf.io.decode_png(content, colours)
        return pixels if colours == self.channels else tf.pad(pixels, [[0, 0], [0, 0], [0, 1]], constant_values=255)

    def _by_pillow(self, index: np.ndarray) -> np.ndarray:
        """One picture that is in the frame already, with so many channels that `finish` leaves it as it is."""
        pixels = self.load(np.asarray(index).reshape(1))[0]
        plain = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
        return np.array(plain.convert(MODES[self.channels])).reshape(self.decoded_shape)

    def finish(self, pixels: np.ndarray) -> np.ndarray:
        """Decoded [n,H,W,channels] -> [n,H,W,C] in the frame: together they are one tall picture for Pillow."""
        frame, shape = self.frame, (len(pixels), *self.frame.shape)
        if self.channels == frame.channels and frame.channels != 4:
            return pixels
        if frame.channels == 4:
            kept = np.array(pixels)
            kept[kept[..., 3] == 0] = (*frame.background, 0)
            return kept
        tall = Image.fromarray(pixels.reshape(-1, frame.width, self.channels))
        colour = composited(tall, frame.background) if self.channels == 4 else tall
        return np.asarray(colour.convert(MODES[frame.channels])).reshape(shape)


def roads_of(facts: Sequence[PictureFacts], frame: Frame) -> tuple[tuple[int, ...], int] | None:
    """The road of each file and the channels to decode; None if too few need nothing but decoding."""
    plain = [_is_plain(item, frame) for item in facts]
    if sum(plain) < PLAIN_SHARE * len(plain):
        return None
    has_alpha = frame.channels == 4 or any(item.alpha == "transparent" for item in facts)  # opaque alpha may be dropped
    all_gray = frame.channels == 1 and all(item.mode in ("L", "1") for item in facts)
    roads = tuple(_road(item) if is_plain else PILLOW for item, is_plain in zip(facts, plain, strict=True))
    return roads, 4 if has_alpha else 1 if all_gray else 3


def _is_plain(facts: PictureFacts, frame: Frame) -> bool:
    right_size = (facts.width, facts.height) == (frame.width, frame.height)
    upright = facts.orientation == 1 and not facts.animated
    return right_size and upright and facts.bits <= 8 and (facts.format == "PNG" or _is_plain_jpeg(facts))


def _is_plain_jpeg(facts: PictureFacts) -> bool:
    return facts.format == "JPEG" and facts.mode in ("L", "RGB")


def _road(facts: PictureFacts) -> int:
    if facts.format == "JPEG":
        return JPEG
    return PNG if facts.alpha == "transparent" else FILLED_PNG
