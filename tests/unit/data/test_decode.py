"""Every mode of PNG and JPEG against values that are known or that Pillow computes another way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain.data import opening
from gantrain.data.catalog import ImageFolder
from gantrain.data.decode import decode
from gantrain.data.framing import Frame
from gantrain.data.inspect import inspect
from gantrain.errors import DataError

WHITE, BLUE = (255, 255, 255), (0, 0, 255)
RANDOM = np.random.default_rng(0)


def pixels(*shape: int) -> np.ndarray:
    return RANDOM.integers(0, 256, shape, np.uint8)


def saved(image: Image.Image, path: Path, **options) -> Path:
    image.save(path, **options)
    return path


def frame(height: int = 8, width: int = 8, channels: int = 3, background=WHITE) -> Frame:
    return Frame(height, width, channels, background)


def inspected(path: Path) -> None:
    """The look of the scan, which returns its cause instead of raising it."""
    cause = inspect(path).cause
    if cause is not None:
        raise DataError(f"{path}: {cause}")


def test_rgb_of_the_right_size_comes_out_untouched(tmp_path: Path):
    values = pixels(8, 8, 3)
    assert (decode(saved(Image.fromarray(values), tmp_path / "a.png"), frame()) == values).all()


def test_transparency_is_composited_over_the_background_as_pillow_does(tmp_path: Path):
    image = Image.fromarray(pixels(8, 8, 4), "RGBA")
    expected = Image.alpha_composite(Image.new("RGBA", (8, 8), (*BLUE, 255)), image).convert("RGB")
    assert (decode(saved(image, tmp_path / "a.png"), frame(background=BLUE)) == np.asarray(expected)).all()


def test_a_fully_transparent_red_pixel_shows_the_background_only(tmp_path: Path):
    path = saved(Image.new("RGBA", (8, 8), (255, 0, 0, 0)), tmp_path / "a.png")
    assert (decode(path, frame(background=BLUE)) == BLUE).all()


def test_palette_with_a_transparent_entry_shows_the_background_there(tmp_path: Path):
    image = Image.new("P", (8, 8), 1)
    image.putpalette([255, 0, 0, 0, 255, 0])
    image.putpixel((3, 2), 0)
    values = decode(saved(image, tmp_path / "a.png", transparency=0), frame(background=BLUE))
    assert (values[2, 3] == BLUE).all()
    assert (np.delete(values.reshape(-1, 3), 2 * 8 + 3, 0) == (0, 255, 0)).all()


def test_rgb_with_one_transparent_colour_shows_the_background_there(tmp_path: Path):
    image = Image.new("RGB", (8, 8), (10, 20, 30))
    image.putpixel((0, 0), (1, 2, 3))
    values = decode(saved(image, tmp_path / "a.png", transparency=(1, 2, 3)), frame(background=BLUE))
    assert (values[0, 0] == BLUE).all()
    assert (values[1, 1] == (10, 20, 30)).all()


def test_gray_with_alpha_is_composited(tmp_path: Path):
    image = Image.merge("LA", (Image.new("L", (8, 8), 100), Image.new("L", (8, 8), 128)))
    assert np.unique(decode(saved(image, tmp_path / "a.png"), frame(channels=1))).tolist() == [177]  # (100*128 + 255*127) / 255


def test_gray_in_a_colour_frame_is_repeated_and_colour_in_a_gray_frame_is_its_luma(tmp_path: Path):
    gray = decode(saved(Image.fromarray(pixels(8, 8)), tmp_path / "gray.png"), frame())
    assert (gray[..., :1] == gray).all()
    luma = decode(saved(Image.new("RGB", (8, 8), (200, 100, 50)), tmp_path / "rgb.png"), frame(channels=1))
    assert luma.shape == (8, 8, 1)
    assert np.unique(luma).tolist() == [124]  # 0.299 R + 0.587 G + 0.114 B


def test_16_bit_gray_is_scaled_by_257_and_not_clipped(tmp_path: Path):
    values = np.linspace(0, 65535, 64).astype(np.uint16).reshape(8, 8)
    path = saved(Image.fromarray(values), tmp_path / "a.png")
    with Image.open(path) as image:
        assert image.mode == "I;16"
    assert (decode(path, frame(channels=1))[..., 0] == np.rint(values / 257)).all()


def test_16_bit_gray_with_a_transparent_value_shows_the_background_there(tmp_path: Path):
    values = np.full((8, 8), 257 * 40, np.uint16)
    values[0, 0] = 1000
    path = saved(Image.fromarray(values), tmp_path / "a.png", transparency=1000)
    out = decode(path, frame(channels=1))
    assert (out[0, 0, 0], out[1, 1, 0]) == (255, 40)


def test_one_bit_pictures_become_black_and_white(tmp_path: Path):
    mask = pixels(8, 8) > 127
    values = decode(saved(Image.fromarray(mask), tmp_path / "a.png"), frame(channels=1))
    assert (values[..., 0] == mask * 255).all()


def test_cmyk_jpeg_becomes_the_rgb_that_pillow_makes_of_it(tmp_path: Path):
    path = saved(Image.new("CMYK", (8, 8), (255, 0, 0, 0)), tmp_path / "a.jpg", quality=100)
    values = decode(path, frame())
    assert np.abs(values.astype(int) - (0, 255, 255)).max() <= 3  # cyan, up to what JPEG loses


def test_exif_orientation_is_applied(tmp_path: Path):
    upright = pixels(6, 8)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise for display
    path = saved(Image.fromarray(np.rot90(upright)), tmp_path / "a.png", exif=exif)
    assert (decode(path, frame(6, 8, 1))[..., 0] == upright).all()


def test_the_centre_is_cropped_before_the_resize(tmp_path: Path):
    wide = np.zeros((8, 24), np.uint8)
    wide[:, 8:16] = inside = pixels(8, 8)
    assert (decode(saved(Image.fromarray(wide), tmp_path / "wide.png"), frame(channels=1))[..., 0] == inside).all()
    tall = saved(Image.fromarray(wide.T), tmp_path / "tall.png")
    assert (decode(tall, frame(channels=1))[..., 0] == inside.T).all()


def test_shrinking_averages_instead_of_picking_pixels(tmp_path: Path):
    board = np.indices((64, 64)).sum(0) % 2 * 255
    values = decode(saved(Image.fromarray(board.astype(np.uint8)), tmp_path / "a.png"), frame(channels=1))
    assert np.abs(values.astype(int) - 127.5).max() < 20  # nearest would give 0 and 255


def test_a_tiny_picture_is_enlarged(tmp_path: Path):
    assert (decode(saved(Image.new("RGB", (3, 2), (9, 8, 7)), tmp_path / "a.png"), frame()) == (9, 8, 7)).all()


def test_settings_name_the_background_in_words_or_hex():
    settings = [ImageFolder(path=".", height=1, width=1, background=colour) for colour in ("black", "gray", "#0102ff")]
    assert [Frame.of(item).background for item in settings] == [(0, 0, 0), (128, 128, 128), (1, 2, 255)]


@pytest.mark.parametrize("look", [inspected, lambda path: decode(path, frame())])
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.png", b"", "is empty"),
        ("a.png", bytes(500), "holds nothing but zero bytes"),
        ("a.png", b"hello, this is text", "is no picture of a known format"),
        ("a.jpg", b"GIF89a and more", "is damaged or cut off"),
        ("a.jpg", b"RIFFxxxxWEBPVP8 ", "is damaged or cut off"),
        ("a.jpg", b"<svg></svg>", "is not a picture gantrain reads .* but SVG or HTML; convert it"),
        ("a.jpg", b"version https://git-lfs.github.com/spec/v1", "is a Git LFS pointer, not the picture"),
        ("a.png", bytes.fromhex("00051607000200004d6163204f532058"), "holds only macOS metadata"),
    ],
)
def test_what_is_no_picture_is_named_with_the_reason(look, name: str, content: bytes, message: str, tmp_path: Path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name}: {message}"):
        look(tmp_path / name)


@pytest.mark.parametrize("look", [inspected, lambda path: decode(path, frame())])
@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
def test_a_picture_that_is_cut_off_is_found_by_both_looks(look, name: str, tmp_path: Path):
    path = saved(Image.fromarray(pixels(64, 64, 3)), tmp_path / name)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DataError, match=f"{name}: is damaged or cut off"):
        look(path)


def test_a_flipped_bit_inside_a_png_is_found(tmp_path: Path):
    path = saved(Image.fromarray(pixels(64, 64, 3)), tmp_path / "a.png")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.png: is damaged"):
        decode(path, frame())


def test_a_jpeg_named_png_is_judged_by_its_content(tmp_path: Path):
    path = saved(Image.new("RGB", (8, 8), (9, 9, 9)), tmp_path / "a.png", format="JPEG")
    inspected(path)
    assert np.unique(decode(path, frame())).tolist() == [9]


@pytest.mark.parametrize("look", [inspected, lambda path: decode(path, frame())])
@pytest.mark.parametrize("side", [9_000, 10_000, 20_000])  # above our limit; where Pillow warns; where Pillow refuses
def test_a_picture_with_too_many_pixels_is_refused_by_its_size(look, side: int, tmp_path: Path):
    path = saved(Image.new("1", (8, 8)), tmp_path / "bomb.png")
    content = path.read_bytes()
    header = content[12:16] + side.to_bytes(4, "big") * 2 + content[24:29]
    crc = __import__("zlib").crc32(header).to_bytes(4, "big")
    path.write_bytes(content[:12] + header + crc + content[33:])
    with pytest.raises(DataError, match=r"bomb\.png: has more than 80,000,000 pixels, the limit"):
        look(path)


def test_the_limit_itself_is_allowed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(opening, "LARGEST_PICTURE", 64)
    path = saved(Image.new("L", (8, 8)), tmp_path / "a.png")
    inspected(path)
    assert decode(path, frame()).shape == (8, 8, 3)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(DataError, match=r"gone\.png: cannot be opened"):
        decode(tmp_path / "gone.png", frame())
