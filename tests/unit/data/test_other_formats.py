"""WebP, GIF, BMP and TIFF, animations, and names that lie."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain.data.decode import decode, decode_content
from gantrain.data.formats import kind_of
from gantrain.data.framing import Frame
from gantrain.data.inspect import bars, inspect
from gantrain.errors import DataError

WHITE = (255, 255, 255)
RANDOM = np.random.default_rng(0)
PIXELS = RANDOM.integers(0, 256, (8, 8, 3), np.uint8)
FRAME = Frame(8, 8, 3, WHITE)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.webp", {"lossless": True}),
        ("a.bmp", {}),
        ("a.tif", {}),
        ("a.tiff", {"compression": "tiff_lzw"}),
        ("lies.jpg", {"format": "WEBP", "lossless": True}),
        ("lies.png", {"format": "BMP"}),
    ],
)
def test_lossless_formats_give_the_pixels_that_were_written(tmp_path: Path, name: str, options: dict):
    Image.fromarray(PIXELS).save(tmp_path / name, **options)
    assert (decode(tmp_path / name, FRAME) == PIXELS).all()
    assert inspect(tmp_path / name).cause is None


def test_webp_with_alpha_is_the_same_as_its_png_copy(tmp_path: Path):
    image = Image.fromarray(RANDOM.integers(0, 256, (8, 8, 4), np.uint8))
    image.save(tmp_path / "a.webp", lossless=True, exact=True)
    image.save(tmp_path / "a.png")
    assert (decode(tmp_path / "a.webp", FRAME) == decode(tmp_path / "a.png", FRAME)).all()
    assert inspect(tmp_path / "a.webp").alpha == "transparent"


@pytest.mark.parametrize(("suffix", "kind"), [("gif", "GIF"), ("webp", "WebP"), ("tif", "TIFF"), ("png", "PNG")])
def test_of_an_animation_the_first_frame_is_taken_and_the_scan_names_it(tmp_path: Path, suffix: str, kind: str):
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    frames = [Image.new("RGB", (8, 8), colour) for colour in colours]
    options = {"lossless": True} if suffix == "webp" else {}
    frames[0].save(tmp_path / f"a.{suffix}", save_all=True, append_images=frames[1:], **options)
    assert (decode(tmp_path / f"a.{suffix}", FRAME) == colours[0]).all()
    facts = inspect(tmp_path / f"a.{suffix}")
    assert (facts.animated, facts.format) == (True, kind)


def test_a_gif_under_a_jpeg_name_is_read_by_its_content(tmp_path: Path):
    Image.fromarray(PIXELS).quantize(256).save(tmp_path / "x.jpg", format="GIF")
    facts = inspect(tmp_path / "x.jpg")
    assert (facts.format, facts.animated) == ("GIF", False)
    with Image.open(tmp_path / "x.jpg") as image:
        assert (decode(tmp_path / "x.jpg", FRAME) == np.asarray(image.convert("RGB"))).all()


def test_a_transparent_gif_shows_the_background(tmp_path: Path):
    image = Image.new("P", (8, 8), 1)
    image.putpalette([255, 0, 0, 0, 255, 0])
    image.putpixel((3, 2), 0)
    image.save(tmp_path / "a.gif", transparency=0)
    out = decode(tmp_path / "a.gif", FRAME)
    assert out[2, 3].tolist() == list(WHITE)
    assert out[0, 0].tolist() == [0, 255, 0]


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["png", "tif", "webp"])
def test_every_orientation_comes_out_upright(tmp_path: Path, orientation: int, suffix: str):
    upright = RANDOM.integers(0, 256, (6, 8, 3), np.uint8)
    stored = {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: upright.transpose(1, 0, 2),
        6: np.rot90(upright, 1),
        7: upright[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(upright, -1),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"lossless": True} if suffix == "webp" else {}
    Image.fromarray(np.ascontiguousarray(stored)).save(tmp_path / f"a.{suffix}", exif=exif, **options)
    assert (decode(tmp_path / f"a.{suffix}", Frame(6, 8, 3, WHITE)) == upright).all()


def test_an_orientation_that_does_not_exist_is_upright_and_not_reported(tmp_path: Path):
    exif = Image.Exif()
    exif[0x0112] = 99
    Image.fromarray(PIXELS).save(tmp_path / "a.png", exif=exif)
    assert inspect(tmp_path / "a.png").orientation == 1
    assert (decode(tmp_path / "a.png", FRAME) == PIXELS).all()


def test_an_interlaced_gray_jpeg_and_a_progressive_one_are_read(tmp_path: Path):
    Image.new("L", (8, 8), 77).save(tmp_path / "a.jpg", progressive=True, quality=100)
    assert (decode(tmp_path / "a.jpg", FRAME) == 77).all()
    assert inspect(tmp_path / "a.jpg").mode == "L"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"", "empty"),
        (bytes(64), "zeros"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8X", "WebP"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", None),
        (b"\x00\x00\x00\x18ftypheic", "HEIC"),
        (b"\xef\xbb\xbf  <?xml", "SVG or HTML"),
        (b"MM\x00*", "TIFF"),
        (b"hello", None),
    ],
)
def test_the_first_bytes_tell_the_format(head: bytes, kind: str | None):
    assert kind_of(head) == kind


def test_bars_are_the_share_of_the_area_around_what_varies():
    inside = RANDOM.integers(1, 256, (8, 10, 3), np.uint8)
    assert bars(inside) == 0
    assert bars(np.pad(inside, ((4, 4), (0, 0), (0, 0)))) == 0.5
    assert bars(np.pad(inside, ((0, 0), (5, 5), (0, 0)))) == 0.5
    assert bars(np.zeros((8, 8), np.uint8)) == 0  # one colour is no bar around anything
    assert bars(np.pad(inside, ((1, 0), (0, 0), (0, 0)))) == 0  # a single row is chance


def saved(form: str, image: Image.Image, **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format=form, **options)
    return buffer.getvalue()


def test_damaged_bytes_are_a_picture_or_a_data_error_and_nothing_else():
    frames = [Image.new("RGB", (9, 8), colour) for colour in ("red", "blue")]
    colour = Image.fromarray(RANDOM.integers(0, 256, (8, 9, 4), np.uint8))
    whole = [
        saved("PNG", colour),
        saved("PNG", colour.convert("P")),
        saved("JPEG", colour.convert("RGB")),
        saved("BMP", colour.convert("RGB")),
        saved("GIF", frames[0], save_all=True, append_images=frames[1:]),
        saved("WEBP", frames[0], save_all=True, append_images=frames[1:]),
    ]
    outcomes = {"picture": 0, "refused": 0}
    for number in range(400):
        content = bytearray(whole[number % len(whole)])
        for place in RANDOM.integers(0, min(len(content), 150), 1 + number % 4):
            content[place] ^= int(RANDOM.integers(1, 256))
        try:
            assert decode_content(bytes(content), "it", FRAME).shape == (8, 8, 3)
            outcomes["picture"] += 1
        except DataError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 20
