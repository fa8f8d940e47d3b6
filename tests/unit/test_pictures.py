"""From what the networks gave to the bytes of a picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from gantrain.data.transforms import RangeTransform
from gantrain.errors import DivergedError
from gantrain.pictures import Pictures, spread

GRAY = Pictures(RangeTransform((0.0, 255.0), (-1.0, 1.0)), (2, 2, 1))


def test_gray_stays_one_channel_and_bytes_are_the_clipped_inverse_of_the_range(tmp_path):
    values = np.array([[-1.0, 1.0], [0.0, 7.0]], np.float32)[None, :, :, None]
    GRAY.write_grid(tmp_path / "a.png", np.concatenate([values, -values]), (1, 2))
    picture = Image.open(tmp_path / "a.png")
    assert picture.mode == "L"
    pixels = np.asarray(picture)
    np.testing.assert_array_equal(pixels[2:4, 2:4], [[0, 255], [128, 255]])  # 127.5 rounds to the even 128
    np.testing.assert_array_equal(pixels[2:4, 6:8], [[255, 0], [128, 0]])


def test_colour_is_rgb(tmp_path):
    pictures = Pictures(RangeTransform((0.0, 255.0), (0.0, 1.0)), (2, 2, 3))
    pictures.write_grid(tmp_path / "a.png", np.full((1, 2, 2, 3), [0.0, 0.2, 1.0], np.float32))
    picture = Image.open(tmp_path / "a.png")
    assert picture.mode == "RGB"
    assert picture.getpixel((2, 2)) == (0, 51, 255)


def test_levels_are_told_and_clipped_values_are_counted(tmp_path):
    told: list[str] = []
    pictures = replace(GRAY, note=lambda levels: told.append(str(levels)))
    step = 2 / 255
    pictures.write_grid(tmp_path / "a.png", np.full((1, 2, 2, 1), [[[-1 + 20 * step]], [[1 - step]]], np.float32))
    ends = np.array([[-1 - 0.4 * step, 1 + 0.4 * step], [1.02, -7.0]], np.float32)  # the first two are nearest to an end
    pictures.write_grid(tmp_path / "b.png", ends[None, :, :, None])
    assert told == ["levels 20 to 254", "levels 0 to 255, 2 of 4 values (50 %) left the range and were clipped"]
    with Image.open(tmp_path / "b.png") as picture:
        assert np.asarray(picture)[2:4, 2:4].tolist() == [[0, 255], [255, 0]]  # 1.02 * 127.5 + 127.5 as a byte would be 1


def test_equal_outputs_give_equal_bytes(tmp_path):
    values = np.random.default_rng(0).uniform(-1, 1, (5, 2, 2, 1)).astype(np.float32)
    for name in "ab":
        GRAY.write_grid(tmp_path / name, values)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_points_are_a_scatter_over_the_real_ones_in_a_fixed_frame():
    reference = np.array([[-1.0, -1.0], [1.0, 1.0]], np.float32)
    pictures = Pictures(RangeTransform(None, None), (2,), reference)
    near, far = pictures.picture(np.array([[0.0, 0.5]], np.float32)), pictures.picture(np.array([[90.0, 90.0]], np.float32))
    gray = (near == near[..., :1]).all(-1)
    assert near.shape == far.shape == (512, 512, 3)
    assert ((near == far).all(-1) | ~gray | ~(far == far[..., :1]).all(-1)).all()  # all but the red dots is the same
    rows, columns = np.nonzero(~gray)
    assert rows.mean() < 255.5  # y points up
    assert abs(columns.mean() - 255.5) < 1


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("pictures", [GRAY, Pictures(RangeTransform(None, None), (2,))], ids=["pictures", "points"])
def test_values_that_are_not_finite_are_never_drawn(pictures, value):
    with pytest.raises(DivergedError):
        pictures.picture(np.full((3, *pictures.shape), value, np.float32))


@pytest.mark.parametrize(("shape", "drawable"), [((8, 8, 1), True), ((2,), True), ((3,), False), ((784,), False)])
def test_pictures_and_points_of_the_plane_can_be_drawn(shape, drawable):
    assert Pictures(RangeTransform(None, None), shape).drawable is drawable


@pytest.mark.parametrize(("length", "count"), [(1, 5), (5, 5), (7, 3), (100, 64)])
def test_spread_takes_different_examples_from_the_first_to_the_last(length, count):
    indices = spread(length, count)
    assert len(indices) == min(length, count) == len(set(indices.tolist()))
    assert indices[0] == 0
    assert indices[-1] == (length - 1 if count > 1 else 0)
