"""Sizes and transparency by rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from gantrain.data.catalog import ImageFolder
from gantrain.data.decode import decode
from gantrain.data.framing import Frame, composited
from gantrain.errors import DataError

GREEN = (0, 255, 0)
RANDOM = np.random.default_rng(0)


def saved(path: Path, pixels: np.ndarray) -> Path:
    Image.fromarray(pixels).save(path)
    return path


def pixels(*shape: int) -> np.ndarray:
    return RANDOM.integers(0, 256, shape, np.uint8)


def test_pad_keeps_the_whole_picture_in_the_middle_of_the_background(tmp_path: Path):
    inside = pixels(4, 8, 3)
    out = decode(saved(tmp_path / "a.png", inside), Frame(8, 8, 3, GREEN, "pad"))
    assert (out[2:6] == inside).all()
    assert (out[[0, 1, 6, 7]] == GREEN).all()


def test_pad_of_a_picture_with_alpha_is_transparent(tmp_path: Path):
    inside = pixels(8, 4, 4) | 1
    out = decode(saved(tmp_path / "a.png", inside), Frame(8, 8, 4, GREEN, "pad", "keep"))
    assert (out[:, 2:6] == inside).all()
    assert (out[:, [0, 1, 6, 7]] == (*GREEN, 0)).all()


def test_stretch_shows_the_whole_picture_distorted(tmp_path: Path):
    wide = np.repeat(pixels(4, 4, 1), 3, axis=2)
    out = decode(saved(tmp_path / "a.png", np.repeat(wide, 8, axis=1)), Frame(4, 4, 3, GREEN, "stretch"))
    assert np.abs(out.astype(int) - wide).max() < 60  # bicubic at hard edges
    flat = np.zeros((6, 10, 3), np.uint8) + np.array([9, 8, 7], np.uint8)
    assert (decode(saved(tmp_path / "b.png", flat), Frame(16, 4, 3, GREEN, "stretch")) == (9, 8, 7)).all()


@pytest.mark.parametrize("framing", ["crop", "pad", "stretch"])
@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("size", [(1, 1), (3, 200), (43, 80), (48, 96)])
def test_any_size_fits_any_frame(tmp_path: Path, framing: str, channels: int, size: tuple[int, int]):
    frame = Frame(13, 7, channels, GREEN, framing, "keep" if channels == 4 else "composite")
    out = decode(saved(tmp_path / "a.png", pixels(*size, 3)), frame)
    assert (out.shape, out.dtype) == ((13, 7, channels), np.uint8)


def test_colours_hidden_under_alpha_0_are_removed_where_alpha_is_kept(tmp_path: Path):
    values = pixels(8, 8, 4)
    values[..., 3] |= 1
    values[2, 3] = (255, 0, 0, 0)
    out = decode(saved(tmp_path / "a.png", values), Frame(8, 8, 4, GREEN, alpha="keep"))
    assert out[2, 3].tolist() == [*GREEN, 0]
    assert (out == values).all(axis=-1).sum() == 63


def test_opaque_pictures_get_full_alpha_where_it_is_kept(tmp_path: Path):
    values = pixels(8, 8, 3)
    out = decode(saved(tmp_path / "a.png", values), Frame(8, 8, 4, GREEN, alpha="keep"))
    assert (out[..., :3] == values).all()
    assert (out[..., 3] == 255).all()


def test_alpha_error_refuses_a_transparent_pixel_and_takes_an_opaque_picture(tmp_path: Path):
    values = pixels(8, 8, 4)
    values[..., 3] = 255
    frame = Frame(8, 8, 3, GREEN, alpha="error")
    assert (decode(saved(tmp_path / "a.png", values), frame) == values[..., :3]).all()
    values[7, 7, 3] = 254
    with pytest.raises(DataError, match=r"b\.png: has transparent pixels, and data.source.alpha is error"):
        decode(saved(tmp_path / "b.png", values), frame)


def test_resizing_with_alpha_does_not_leak_the_hidden_colour(tmp_path: Path):
    values = np.zeros((32, 32, 4), np.uint8)
    values[::2] = (0, 0, 200, 255)
    values[1::2] = (255, 0, 0, 0)  # red that nobody sees
    out = decode(saved(tmp_path / "a.png", values), Frame(8, 8, 4, GREEN, alpha="keep"))
    assert out[..., 0].max() == 0
    over = decode(saved(tmp_path / "b.png", values), Frame(8, 8, 3, (0, 0, 0)))
    assert over[..., 0].max() == 0


def test_four_channels_keep_alpha_and_contradictions_are_refused():
    assert ImageFolder(path=".", height=8, width=8, channels=4).alpha == "keep"
    for channels, alpha in ((3, "keep"), (4, "composite"), (4, "error")):
        with pytest.raises(ValidationError, match="contradict each other"):
            ImageFolder(path=".", height=8, width=8, channels=channels, alpha=alpha)  # pyright: ignore[reportArgumentType]


def test_every_colour_and_alpha_over_every_background_has_the_bytes_of_pillows_alpha_composite():
    colour, alpha = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    picture = Image.fromarray(np.stack([colour, colour, colour, alpha], -1))
    for level in range(0, 256, 3):  # three at a time: one for each channel
        background = (level, min(level + 1, 255), min(level + 2, 255))
        wanted = Image.alpha_composite(Image.new("RGBA", picture.size, (*background, 255)), picture).convert("RGB")
        assert composited(picture, background).tobytes() == wanted.tobytes()
