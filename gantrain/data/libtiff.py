"""Keeps the TIFF library inside Pillow from writing to the terminal: gantrain names the file and the cause itself."""

from __future__ import annotations

import ctypes
from pathlib import Path

import PIL


def silence() -> bool:
    """Take away the library's handler of errors, which prints; whether the library was found (Pillow's wheels bring it along)."""
    found = sorted((Path(PIL.__file__).parent.parent / "pillow.libs").glob("libtiff*"))
    try:
        handler = ctypes.CDLL(str(found[0])).TIFFSetErrorHandler
    except (IndexError, OSError, AttributeError):
        return False
    handler.argtypes, handler.restype = [ctypes.c_void_p], ctypes.c_void_p
    handler(None)
    return True
