"""One picture file -> uint8 [H,W,C], whatever its mode (Pillow only, free of TensorFlow)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor, ImageOps

from gantrain.data.catalog import ImageFolder
from gantrain.data.scan import printable
from gantrain.errors import DataError

LARGEST_PICTURE = 80_000_000  # pixels; a small file can unpack to gigabytes
warnings.filterwarnings(
    "error", category=Image.DecompressionBombWarning
)  # Pillow warns above 89 million pixels: never decode those

OTHER_FORMATS = (
    (b"GIF8", "GIF"),
    (b"RIFF", "WebP"),
    (b"BM", "BMP"),
    (b"II*", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"<", "SVG or HTML"),
)
ENDS = {"PNG": b"IEND\xaeB`\x82", "JPEG": b"\xff\xd9", "MPO": b"\xff\xd9"}


@dataclass(frozen=True)
class Frame:
    """What every picture becomes: `height` x `width` pixels, `channels` 1 or 3, over an RGB `background`."""

    height: int
    width: int
    channels: int
    background: tuple[int, int, int]

    @staticmethod
    def of(settings: ImageFolder) -> Frame:
        """The frame that settings ask for."""
        red, green, blue = ImageColor.getrgb(settings.background)[:3]
        return Frame(settings.height, settings.width, settings.channels, (red, green, blue))


def decode(path: Path, frame: Frame) -> np.ndarray:
    """The picture in its frame, uint8 [H,W,C]. Raises DataError that names the file.

    Orientation (EXIF) is applied, transparency composited over the background, then the centre is cropped to the aspect of the
    frame and resized with Pillow's antialiased bicubic filter (the filter of clean-fid; less ringing at hard edges than Lanczos).
    16-bit gray is scaled by 1/257; of 16-bit colour Pillow keeps the high byte. Colour profiles are ignored.
    """
    with _opened(path) as image:
        upright = ImageOps.exif_transpose(image)
        flat = _opaque(_eight_bit(upright), frame.background)
        fitted = _crop_and_resize(flat.convert("L" if frame.channels == 1 else "RGB"), frame)
        return np.asarray(fitted, np.uint8).reshape(frame.height, frame.width, frame.channels)


def check(path: Path) -> None:
    """DataError if the file is no PNG or JPEG, too large, or cut off. Decodes only where the end mark is missing."""
    with _opened(path) as image:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 64))
            ending = file.read()
        if ENDS[image.format or "PNG"] not in ending:
            image.load()


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    try:
        with Image.open(path, formats=("PNG", "JPEG")) as image:
            if image.width * image.height > LARGEST_PICTURE:
                raise Image.DecompressionBombError
            yield image
    except Exception as error:  # Pillow raises OSError, SyntaxError, ValueError, struct.error, zlib.error ... for damaged files
        raise DataError(f"{printable(str(path))}: {_reason(path, error)}") from error


def _reason(path: Path, error: Exception) -> str:
    if isinstance(error, Image.DecompressionBombError | Image.DecompressionBombWarning):
        return f"has more than {LARGEST_PICTURE:,} pixels, the limit; make it smaller"
    if isinstance(error, FileNotFoundError | PermissionError):
        return f"cannot be opened ({error.strerror})"
    content = path.read_bytes()[:16]
    if not content:
        return "is empty (0 bytes)"
    kind = next((name for start, name in OTHER_FORMATS if content.startswith(start)), None)
    if kind is not None:
        return f"is not PNG or JPEG but {kind}; convert it"
    return f"is damaged or cut off, or no PNG or JPEG picture ({type(error).__name__}: {printable(str(error))})"


def _eight_bit(image: Image.Image) -> Image.Image:
    """16-bit gray (modes I;16 and I) as 8 bits: round(v / 257), with its transparent value as alpha. Pillow clips."""
    if not image.mode.startswith("I"):
        return image
    values = np.asarray(image).astype(np.int64)
    gray = Image.fromarray(((values + 128) // 257).astype(np.uint8))
    if "transparency" not in image.info:
        return gray
    alpha = np.where(values == image.info["transparency"], 0, 255).astype(np.uint8)
    return Image.merge("LA", (gray, Image.fromarray(alpha)))


def _opaque(image: Image.Image, background: tuple[int, int, int]) -> Image.Image:
    """Composite over the background; opaque pictures stay as they are."""
    if not image.has_transparency_data:
        return image
    return Image.alpha_composite(Image.new("RGBA", image.size, (*background, 255)), image.convert("RGBA"))


def _crop_and_resize(image: Image.Image, frame: Frame) -> Image.Image:
    """The largest centred box of the frame's aspect, resized; a picture that has the size already is not touched."""
    scale = min(image.width / frame.width, image.height / frame.height)
    width, height = frame.width * scale, frame.height * scale
    left, top = (image.width - width) / 2, (image.height - height) / 2
    return image.resize((frame.width, frame.height), Image.Resampling.BICUBIC, box=(left, top, left + width, top + height))
