"""What one picture file is: read and decoded once, so that nothing about it comes as a surprise after step 1."""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gantrain.data import decode
from gantrain.data.depth import bits_of
from gantrain.data.framing import Frame, is_transparent
from gantrain.data.opening import opened, read
from gantrain.data.scan import printable
from gantrain.data.words import counted
from gantrain.errors import DataError

SMALLEST_BAR = 2  # rows or columns of one value along an edge that count as a bar
LARGEST_FOR_BARS = 4_000_000  # pixels


@dataclass(frozen=True, slots=True)
class PictureFacts:
    """Facts of a file, independent of any frame. `cause` says why it cannot be used; then the rest is unknown."""

    format: str = ""
    width: int = 0  # as stored, before the orientation is applied
    height: int = 0
    mode: str = ""  # Pillow's: L, RGB, RGBA, P, LA, CMYK, I;16, F ...
    bits: int = 8  # per channel
    alpha: str = "none"  # none | opaque | transparent
    orientation: int = 1  # of EXIF; 1 is upright
    animated: bool = False  # more than one frame or page
    bars: float = 0.0  # share of the area in bars of one exact value along the edges; 0 for pictures with alpha
    low: float = 0.0  # values of 16-bit and float pictures
    high: float = 0.0
    profile: bool = False  # a colour profile that is not sRGB
    digest: str = ""  # of the file's contents
    cause: str | None = None

    def as_list(self) -> list[Any]:
        """For the cache."""
        return list(astuple(self))

    @classmethod
    def from_list(cls, values: list[Any]) -> PictureFacts:
        """What `as_list` gave."""
        return cls(**dict(zip((field.name for field in fields(cls)), values, strict=True)))


def inspect(path: Path) -> PictureFacts:
    """Facts of one file. Never raises for a bad file: it has a cause."""
    return look(path, None)[0]


def look(path: Path, frame: Frame | None) -> tuple[PictureFacts, np.ndarray | None]:
    """Facts of one file and, where a frame is given and the picture can be brought into it, the picture [H,W,C]."""
    facts = PictureFacts()
    try:
        content = read(path)
        digest = hashlib.blake2b(content, digest_size=12).hexdigest()
        with opened(content, "") as image:
            facts, values = _facts(image, content, digest)
            return facts, None if frame is None else decode.finish(image, values, frame)
    except DataError as error:
        return (facts if facts.format else PictureFacts(cause=_cause(str(error), path))), None


def _cause(message: str, path: Path) -> str:
    """The message without the file's name."""
    return message.removeprefix(printable(str(path))).removeprefix(": ")


def _facts(image: Image.Image, content: bytes, digest: str) -> tuple[PictureFacts, np.ndarray | None]:
    name, mode, bits = image.format or "", image.mode, bits_of(image)
    size, animated = (image.width, image.height), getattr(image, "n_frames", 1) > 1
    if animated:
        image.seek(0)
    values = decode.load(image, content)
    low, high = _extremes(values)
    alpha = _alpha(image, values)
    facts = PictureFacts(
        format={"MPO": "JPEG", "WEBP": "WebP"}.get(name, name),
        width=size[0],
        height=size[1],
        mode=mode,
        bits=bits,
        alpha=alpha,
        orientation=decode.orientation(image),
        animated=animated and name != "MPO",
        bars=bars(np.asarray(image) if values is None else values) if alpha == "none" else 0.0,
        low=low,
        high=high,
        profile=_has_profile(image),
        digest=digest,
    )
    return facts, values


def _has_profile(image: Image.Image) -> bool:
    """Whether a colour profile other than sRGB's own is there: its name is in it, as ASCII or UTF-16."""
    profile = image.info.get("icc_profile")
    return isinstance(profile, bytes) and not any("sRGB".encode(code) in profile for code in ("ascii", "utf-16-be"))


def _extremes(values: np.ndarray | None) -> tuple[float, float]:
    if values is None:
        return 0.0, 0.0
    finite = values[np.isfinite(values)]
    if finite.size < values.size:
        raise decode.Unusable(f"holds {counted(values.size - finite.size, 'value')} not finite (NaN or infinite)")
    return float(finite.min()), float(finite.max())


def _alpha(image: Image.Image, values: np.ndarray | None) -> str:
    if values is not None and values.ndim == 3 and values.shape[-1] in (2, 4):
        return "transparent" if int(values[..., -1].min()) < 65535 else "opaque"
    if not image.has_transparency_data:
        return "none"
    if values is not None:
        return "transparent"  # one value of a deep picture is named transparent
    return "transparent" if _has_transparent_pixel(image) else "opaque"


def _has_transparent_pixel(image: Image.Image) -> bool:
    """Without converting the whole picture where its bands or its palette tell."""
    if image.mode in ("RGBA", "LA"):
        return int(image.getchannel("A").getextrema()[0]) < 255  # pyright: ignore[reportArgumentType]  one band: two numbers
    named = image.info.get("transparency")
    if image.mode == "P" and named is not None:
        alphas = named if isinstance(named, bytes) else {named: 0}
        used = [index for index, count in enumerate(image.histogram()[:256]) if count]
        return any(_alpha_of_entry(alphas, index) < 255 for index in used)
    return is_transparent(image.convert("RGBA"))


def _alpha_of_entry(alphas: bytes | dict[int, int], index: int) -> int:
    if isinstance(alphas, bytes):
        return alphas[index] if index < len(alphas) else 255
    return alphas.get(index, 255)


def bars(pixels: np.ndarray) -> float:
    """Share of the area, 0..1, in whole rows and columns along the edges that are exactly the value of one corner."""
    height, width = pixels.shape[:2]
    if height * width > LARGEST_FOR_BARS:
        return 0.0
    rows = _bar(pixels) + _bar(pixels[::-1])
    columns = _bar(np.swapaxes(pixels, 0, 1)) + _bar(np.swapaxes(pixels, 0, 1)[::-1])
    if rows >= height or columns >= width:
        return 0.0  # all one colour: no bars around anything
    return 1 - (height - rows) * (width - columns) / (height * width)


def _bar(pixels: np.ndarray) -> int:
    """How many first rows hold nothing but the value of the first pixel; a single row is chance."""
    if not (pixels[:SMALLEST_BAR] == pixels[0, 0]).all():  # most pictures end here
        return 0
    varied = np.flatnonzero((pixels != pixels[0, 0]).reshape(len(pixels), -1).any(axis=1))
    return int(varied[0]) if len(varied) else len(pixels)
