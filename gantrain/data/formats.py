"""What a file is, judged by its first bytes and never by its name (free of TensorFlow and Pillow)."""

from __future__ import annotations

HEAD_BYTES = 64  # enough for every judgement here
PICTURE_FORMATS = ("PNG", "JPEG", "GIF", "WebP", "BMP", "TIFF")

STARTS = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"BM", "BMP"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"\x00\x05\x16\x07", "AppleDouble"),
    (b"8BPS", "Photoshop"),
    (b"\x00\x00\x01\x00", "ICO"),
    (b"%PDF", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"\x93NUMPY", "NumPy"),
    (b"\x1f\x8b", "gzip"),
)
BRANDS = {b"heic": "HEIC", b"heix": "HEIC", b"mif1": "HEIC", b"avif": "AVIF", b"avis": "AVIF", b"isom": "MP4", b"mp42": "MP4"}
POINTER = b"version https://git-lfs"


def kind_of(head: bytes) -> str | None:
    """Name of the format that the first bytes of a file tell, or None.

    `empty` for no bytes at all, `zeros` for nothing but zero bytes: what a full disk or a broken download leaves.
    """
    if not head:
        return "empty"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP"
    if head[4:8] == b"ftyp":
        return BRANDS.get(head[8:12], "video or HEIC")
    if head.startswith(POINTER):
        return "Git LFS pointer"
    if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
        return "SVG or HTML"
    if not any(head):
        return "zeros"
    return next((name for start, name in STARTS if head.startswith(start)), None)
