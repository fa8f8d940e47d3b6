"""Pictures: every pixel where it belongs, one channel stays one channel, equal pictures are equal bytes."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain.errors import RunError
from gantrain.rundir.grid import Limits, best_layout, in_class_rows, limits_around, png_bytes, scatter, tile, write_png


@pytest.mark.parametrize(
    ("count", "layout"),
    [
        (1, (1, 1)),
        (2, (1, 2)),
        (8, (2, 4)),
        (10, (2, 5)),
        (12, (3, 4)),
        (16, (4, 4)),
        (50, (5, 10)),
        (64, (8, 8)),
        (100, (10, 10)),
    ],
)
def test_usual_counts_get_full_grids(count: int, layout: tuple[int, int]) -> None:
    assert best_layout(count) == layout


def test_every_count_fits_and_wastes_less_than_a_row() -> None:
    for count in range(1, 300):
        rows, columns = best_layout(count)
        assert count <= rows * columns < count + columns
        assert rows <= columns


def test_each_picture_lies_in_its_cell_and_the_rest_is_white() -> None:
    images = np.random.default_rng(0).integers(0, 255, (5, 3, 4, 3), dtype=np.uint8)
    paper = tile(images, rows=2, columns=3, pad=2)
    assert paper.shape == (2 * 5 + 2, 3 * 6 + 2, 3)
    for index in range(5):
        row, column = divmod(index, 3)
        assert (paper[2 + row * 5 : 5 + row * 5, 2 + column * 6 : 6 + column * 6] == images[index]).all()
    assert (paper == 255).sum() == paper.size - images.size


def test_classes_in_turn_get_a_row_each_and_short_rows_end_white() -> None:
    images = np.arange(8, dtype=np.uint8).reshape(8, 1, 1, 1)
    cells, rows, columns = in_class_rows(images, 3)
    assert (rows, columns) == (3, 3)
    assert cells.ravel().reshape(rows, columns).tolist() == [[0, 3, 6], [1, 4, 7], [2, 5, 255]]


def test_too_many_pictures_for_the_grid_are_refused() -> None:
    with pytest.raises(ValueError, match="5 pictures do not fit into 2 rows of 2"):
        tile(np.zeros((5, 2, 2, 1), np.uint8), 2, 2)


@pytest.mark.parametrize(("channels", "mode"), [(1, "L"), (2, "LA"), (3, "RGB"), (4, "RGBA")])
def test_a_png_comes_back_with_its_channels_and_values(tmp_path: Path, channels: int, mode: str) -> None:
    image = np.random.default_rng(1).integers(0, 256, (5, 7, channels), dtype=np.uint8)
    write_png(tmp_path / "a.png", image)
    with Image.open(tmp_path / "a.png") as read:
        assert read.mode == mode
        assert np.array_equal(np.asarray(read).reshape(image.shape), image)


def test_equal_pictures_are_equal_bytes_with_nothing_but_pixels_inside() -> None:
    image = np.random.default_rng(2).integers(0, 256, (9, 9, 3), dtype=np.uint8)
    data = png_bytes(image)
    assert data == png_bytes(image[::-1][::-1])  # another memory order, same picture
    with Image.open(io.BytesIO(data)) as read:
        assert read.info == {}
    assert data != png_bytes(255 - image)


@pytest.mark.parametrize("image", [np.zeros((2, 2, 5), np.uint8), np.zeros((2, 2, 3), np.float32), np.zeros((2, 2), np.uint8)])
def test_what_is_no_picture_is_refused(image: np.ndarray) -> None:
    with pytest.raises(ValueError, match="a PNG needs uint8"):
        png_bytes(image)


def test_a_picture_that_cannot_be_written_is_a_run_error(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"cannot write .*a\.png: it does not exist"):
        write_png(tmp_path / "missing" / "a.png", np.zeros((2, 2, 1), np.uint8))


def test_limits_are_a_square_around_the_points() -> None:
    points = np.array([[0.0, -1.0], [4.0, 1.0]])
    assert limits_around(points) == Limits(-1.0, 5.0, -3.0, 3.0)
    assert limits_around(np.zeros((3, 2))) == Limits(-1.5, 1.5, -1.5, 1.5)


def test_y_points_up_fakes_lie_over_reals_and_outsiders_on_the_edge() -> None:
    limits = Limits(-1, 1, -1, 1)
    fakes = np.array([[0.0, 0.5], [1e9, -1e9]])
    reals = np.array([[0.0, 0.5], [-0.5, 0.0]])
    picture = scatter(fakes, reals, limits, size=101)
    red, gray = [214, 39, 40], [178, 178, 178]
    assert picture.shape == (101, 101, 3)
    assert picture[25, 50].tolist() == red
    assert picture[50, 25].tolist() == gray
    assert picture[98, 98].tolist() == red
    assert (picture.reshape(-1, 3) == red).all(1).sum() == 18
    assert (picture.reshape(-1, 3) == gray).all(1).sum() == 9


def test_points_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        scatter(np.array([[np.nan, 0.0]]), None, Limits(-1, 1, -1, 1))
