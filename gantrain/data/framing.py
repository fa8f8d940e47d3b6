"""From an upright 8-bit picture to the frame: transparency by rule, then size by rule (free of TensorFlow)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageColor

from gantrain.data.catalog import ImageFolder
from gantrain.data.opening import Unusable
from gantrain.interfaces import Range

MODES = {1: "L", 3: "RGB", 4: "RGBA"}


@dataclass(frozen=True)
class Frame:
    """What every picture becomes: `height` x `width` pixels, `channels` 1, 3 or 4, over an RGB `background`."""

    height: int
    width: int
    channels: int
    background: tuple[int, int, int]
    framing: str = "crop"  # crop | pad | stretch
    alpha: str = "composite"  # composite | keep | error
    value_range: Range | None = None  # of 16-bit and float pictures
    deep: bool = False  # all pictures have more than 8 bits: they stay float32, in their own units

    @staticmethod
    def of(settings: ImageFolder) -> Frame:
        """The frame that settings ask for."""
        red, green, blue = ImageColor.getrgb(settings.background)[:3]
        rules = (settings.framing, settings.alpha, settings.value_range)
        return Frame(settings.height, settings.width, settings.channels, (red, green, blue), *rules)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, W, C)."""
        return (self.height, self.width, self.channels)


def framed(image: Image.Image, frame: Frame) -> np.ndarray:
    """The picture in its frame, uint8 [H,W,C]. Raises Unusable for transparency where the rule is `error`."""
    return np.asarray(sized(_with_rule_for_alpha(image, frame), frame), np.uint8).reshape(frame.shape)


def _with_rule_for_alpha(image: Image.Image, frame: Frame) -> Image.Image:
    """L, RGB or RGBA. Opaque pictures are only converted."""
    mode = MODES[frame.channels]
    if not image.has_transparency_data:
        return image.convert(mode)
    picture = image.convert("RGBA")
    if frame.alpha == "keep":
        return _hidden_colours_removed(picture, frame.background)
    if frame.alpha == "error" and is_transparent(picture):
        raise Unusable("has transparent pixels, and data.source.alpha is error; write alpha: composite, or flatten it")
    return composited(picture, frame.background).convert(mode)


def composited(picture: Image.Image, background: tuple[int, int, int]) -> Image.Image:
    """RGB: an RGBA picture over a colour, each channel round((c * alpha + background * (255 - alpha)) / 255).

    The bytes of `Image.alpha_composite` over an opaque picture, in a third of the time: that one divides by the new alpha.
    """
    paper = Image.new("RGB", picture.size, background)
    paper.paste(picture, (0, 0), picture)
    return paper


def is_transparent(picture: Image.Image) -> bool:
    """Whether any pixel of an RGBA picture is not opaque."""
    lowest = picture.getchannel("A").getextrema()[0]
    return isinstance(lowest, int) and lowest < 255


def _hidden_colours_removed(picture: Image.Image, background: tuple[int, int, int]) -> Image.Image:
    """Colours under alpha 0 are left over from editing; nobody sees them and a network would learn them."""
    pixels = np.array(picture)
    pixels[pixels[..., 3] == 0] = (*background, 0)
    return Image.fromarray(pixels)


def sized(image: Image.Image, frame: Frame, fill: float | None = None) -> Image.Image:
    """The frame's size; a picture that has it already is not touched. Pillow resizes RGBA with colours weighted by alpha.

    `fill` is what a float picture is padded with, instead of the background.
    """
    if (image.width, image.height) == (frame.width, frame.height):
        return image
    if frame.framing == "pad":
        return _padded(image, frame, fill)
    box = (0.0, 0.0, float(image.width), float(image.height)) if frame.framing == "stretch" else _centre(image, frame)
    return image.resize((frame.width, frame.height), Image.Resampling.BICUBIC, box=box)


def _centre(image: Image.Image, frame: Frame) -> tuple[float, float, float, float]:
    """The largest centred box of the frame's aspect."""
    scale = min(image.width / frame.width, image.height / frame.height)
    width, height = frame.width * scale, frame.height * scale
    left, top = (image.width - width) / 2, (image.height - height) / 2
    return (left, top, left + width, top + height)


def _padded(image: Image.Image, frame: Frame, fill: float | None) -> Image.Image:
    """The whole picture in the middle, the rest filled with the background (transparent where alpha is kept)."""
    scale = min(frame.width / image.width, frame.height / image.height)
    width, height = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    small = image if image.size == (width, height) else image.resize((width, height), Image.Resampling.BICUBIC)
    paper = _paper(image.mode, frame) if fill is None else Image.new(image.mode, (frame.width, frame.height), fill)
    paper.paste(small, ((frame.width - width) // 2, (frame.height - height) // 2))
    return paper


def _paper(mode: str, frame: Frame) -> Image.Image:
    alpha = 0 if mode == "RGBA" else 255
    return Image.new("RGBA", (frame.width, frame.height), (*frame.background, alpha)).convert(mode)
