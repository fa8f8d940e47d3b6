"""Opens one picture with Pillow, or says which file cannot be used, why, and what to do (free of TensorFlow)."""

from __future__ import annotations

import io
import re
import stat
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from PIL import Image

from gantrain.data import libtiff
from gantrain.data.formats import HEAD_BYTES, PICTURE_FORMATS, kind_of
from gantrain.data.scan import printable
from gantrain.errors import DataError

LARGEST_PICTURE = 80_000_000  # pixels; a small file can unpack to gigabytes
LARGE_PICTURE = 8_000_000  # pixels; threads decode larger ones in turn, because each takes up to 12 bytes per pixel
LARGEST_FILE = 2**30  # bytes
PILLOW_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
# Pillow warns above 89 million pixels: never decode those
warnings.filterwarnings("error", category=Image.DecompressionBombWarning)
warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")  # odd metadata, which nothing here reads
libtiff.silence()

_one_at_a_time = threading.Lock()

NAMED = {
    "empty": "is empty (0 bytes); remove it, or copy it again",
    "zeros": "holds nothing but zero bytes; remove it, or copy it again",
    "Git LFS pointer": "is a Git LFS pointer, not the picture; run git lfs pull",
    "AppleDouble": "holds only macOS metadata (AppleDouble), no picture; remove it",
}


class Unusable(Exception):
    """A reason that is complete as it is."""


def read(path: Path) -> bytes:
    """Contents of a picture file. Raises DataError that names it."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise DataError(f"{printable(str(path))}: is no file but a folder, a pipe or a device; remove it, or rename it")
        size = found.st_size
        if size > LARGEST_FILE:
            raise DataError(f"{printable(str(path))}: has {size:,} bytes, more than {LARGEST_FILE:,}, the limit; make it smaller")
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{printable(str(path))}: cannot be opened ({error.strerror})") from error


@contextmanager
def opened(content: bytes, place: str) -> Iterator[Image.Image]:
    """The picture in `content`, first frame, not decoded yet. What goes wrong inside becomes a DataError that names `place`."""
    try:
        with Image.open(io.BytesIO(content), formats=PILLOW_FORMATS) as image:
            if image.width * image.height > LARGEST_PICTURE:
                raise Image.DecompressionBombError
            with _one_at_a_time if image.width * image.height > LARGE_PICTURE else nullcontext():
                yield image
    except DataError:
        raise
    except Exception as error:  # Pillow raises OSError, SyntaxError, ValueError, struct.error, zlib.error ... for damaged files
        raise DataError(f"{place}: {_reason(content, error)}") from error


def _reason(content: bytes, error: Exception) -> str:
    if isinstance(error, Unusable):
        return str(error)
    if isinstance(error, Image.DecompressionBombError | Image.DecompressionBombWarning):
        return f"has more than {LARGEST_PICTURE:,} pixels, the limit; make it smaller"
    kind = kind_of(content[:HEAD_BYTES]) if any(content) or not content else "zeros"
    if kind in NAMED:
        return NAMED[kind]
    if kind is not None and kind not in PICTURE_FORMATS:
        return f"is not a picture gantrain reads ({', '.join(PICTURE_FORMATS)}) but {kind}; convert it"
    what = "is damaged or cut off" if kind else f"is no picture of a known format ({', '.join(PICTURE_FORMATS)})"
    return f"{what} ({type(error).__name__}: {_words(error)}); replace it or remove it"


def _words(error: Exception) -> str:
    """An error's text; Pillow's names the memory address of the bytes it was given, which differs each time."""
    return re.sub(r" ?<_io\.BytesIO object at 0x[0-9a-f]+>", "", printable(str(error)))
