"""What one picture file is: read and decoded once, so that nothing about it comes as a surprise after step 1."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gantrain.data import decode
from gantrain.data.depth import bits_of, deep_values
from gantrain.data.framing import is_transparent
from gantrain.data.opening import opened, read
from gantrain.data.scan import printable
from gantrain.errors import DataError

SMALLEST_BAR = 2  # rows or columns of one value along an edge that count as a bar
LARGEST_FOR_BARS = 4_000_000  # pixels


@dataclass(frozen=True)
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
    bars: float = 0.0  # share of the area in bars of one exact value along the edges
    low: float = 0.0  # values of 16-bit and float pictures
    high: float = 0.0
    digest: str = ""  # of the file's contents
    cause: str | None = None

    def as_list(self) -> list[Any]:
        """For the cache."""
        return list(astuple(self))

    @classmethod
    def from_list(cls, values: list[Any]) -> PictureFacts:
        """What `as_list` gave."""
        return cls(**dict(zip((field.name for field in fields(cls)), values, strict=True)))

    def as_tree(self) -> dict[str, Any]:
        """For people."""
        return asdict(self)


def inspect(path: Path) -> PictureFacts:
    """Facts of one file. Never raises for a bad file: it has a cause."""
    try:
        content = read(path)
        digest = hashlib.blake2b(content, digest_size=12).hexdigest()
        with opened(content, "") as image:
            return _facts(image, content, digest)
    except DataError as error:
        return PictureFacts(cause=_cause(str(error), path))


def _cause(message: str, path: Path) -> str:
    """The message without the file's name."""
    return message.removeprefix(printable(str(path))).removeprefix(": ")


def _facts(image: Image.Image, content: bytes, digest: str) -> PictureFacts:
    name, mode, bits = image.format or "", image.mode, bits_of(image)
    size, animated = (image.width, image.height), getattr(image, "n_frames", 1) > 1
    if animated:
        image.seek(0)
    values = deep_values(image, content)
    if values is None:
        image.load()
        if image.mode not in decode.CONVERTIBLE:
            raise decode.Unusable(f"has the colour mode {image.mode}, which gantrain does not read; convert it to RGB")
    low, high = _extremes(values)
    return PictureFacts(
        format={"MPO": "JPEG", "WEBP": "WebP"}.get(name, name),
        width=size[0],
        height=size[1],
        mode=mode,
        bits=bits,
        alpha=_alpha(image, values),
        orientation=decode.orientation(image),
        animated=animated and name != "MPO",
        bars=bars(np.asarray(image) if values is None else values),
        low=low,
        high=high,
        digest=digest,
    )


def _extremes(values: np.ndarray | None) -> tuple[float, float]:
    if values is None:
        return 0.0, 0.0
    finite = values[np.isfinite(values)]
    if finite.size < values.size:
        raise decode.Unusable(f"holds {values.size - finite.size:,} values that are not finite (NaN or infinite)")
    return float(finite.min()), float(finite.max())


def _alpha(image: Image.Image, values: np.ndarray | None) -> str:
    if values is not None and values.ndim == 3 and values.shape[-1] in (2, 4):
        return "transparent" if int(values[..., -1].min()) < 65535 else "opaque"
    if not image.has_transparency_data:
        return "none"
    if values is not None:
        return "transparent"  # one value of a deep picture is named transparent
    return "transparent" if is_transparent(image.convert("RGBA")) else "opaque"


def bars(pixels: np.ndarray) -> float:
    """Share of the area, 0..1, in whole rows and columns along the edges that are exactly the value of the corner."""
    if pixels.shape[0] * pixels.shape[1] > LARGEST_FOR_BARS:
        return 0.0
    same = pixels == pixels[0, 0]
    same = same.all(axis=-1) if same.ndim == 3 else same
    inner = [_inside(same.all(axis=axis)) for axis in (1, 0)]
    if 0 in inner:
        return 0.0  # all one colour: no bars around anything
    return 1 - inner[0] * inner[1] / (pixels.shape[0] * pixels.shape[1])


def _inside(constant: np.ndarray) -> int:
    """Rows or columns between the bars."""
    varied = np.flatnonzero(~constant)
    if not len(varied):
        return 0
    first, after = int(varied[0]), len(constant) - 1 - int(varied[-1])
    return len(constant) - sum(bar for bar in (first, after) if bar >= SMALLEST_BAR)
