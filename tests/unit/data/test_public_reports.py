"""Small copies of data that users of other trainers reported, each with the values that are right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from gantrain.data.catalog import Arrays, ImageFolder
from gantrain.data.image_folder import build
from gantrain.data.inputs import read_inputs
from gantrain.data.transforms import RangeTransform
from gantrain.pictures import Pictures

RANDOM = np.random.default_rng(0)


def colours(height: int = 8, width: int = 8) -> np.ndarray:
    return RANDOM.integers(0, 256, (height, width, 3), np.uint8)


def opened(folder: Path, **settings):
    return build(ImageFolder(path=str(folder), **{"height": 8, "width": 8, **settings}), folder)


def lines(source) -> str:
    return "\n".join(source.report.lines)


def test_two_gray_pictures_hidden_among_colour_ones_are_converted_and_counted(tmp_path: Path):
    for number in range(38):
        Image.fromarray(colours()).save(tmp_path / f"{number:02d}.jpg")
    for number in (38, 39):
        Image.fromarray(np.full((8, 8), number, np.uint8)).save(tmp_path / f"{number}.jpg", quality=100)
    source = opened(tmp_path)
    assert source.in_memory.shape == (40, 8, 8, 3)
    assert (source.in_memory[38:] == np.array([38, 39])[:, None, None, None]).all()
    assert "modes      RGB 38, L 2" in lines(source)


def test_a_webp_folder_is_read_as_its_png_copies_are(tmp_path: Path):
    for name in ("webp", "png"):
        (tmp_path / name).mkdir()
    for number in range(30):
        channels = 4 if number < 2 else 3
        picture = Image.fromarray(RANDOM.integers(0, 256, (8, 8, channels), np.uint8))
        picture.save(tmp_path / "webp" / f"{number:02d}.webp", lossless=True, exact=True)
        picture.save(tmp_path / "png" / f"{number:02d}.png")
    assert (opened(tmp_path / "webp").in_memory == opened(tmp_path / "png").in_memory).all()


def test_one_picture_of_another_size_is_reported_and_breaks_nothing(tmp_path: Path):
    for number in range(30):
        Image.fromarray(colours(48, 80)).save(tmp_path / f"{number:02d}.png")
    Image.fromarray(colours(43, 80)).save(tmp_path / "odd.png")
    source = opened(tmp_path, height=48, width=80, framing="pad")
    assert source.in_memory.shape == (31, 48, 80, 3)
    assert "sizes      80x48 30, 80x43 1" in lines(source)


def test_labels_follow_names_whatever_order_a_list_or_a_folder_has(tmp_path: Path):
    for number in range(1, 13):  # sorted: img1, img10, img11, img12, img2 ...
        Image.fromarray(np.full((8, 8), number, np.uint8)).save(tmp_path / f"img{number}.png")
    rows = [f"img{number}.png,{'even' if number % 2 == 0 else 'odd'}" for number in (7, 2, 12, 1, 10, 3, 9, 4, 11, 5, 8, 6)]
    (tmp_path / "labels.csv").write_text("\n".join(["file,label", *rows]))
    source = opened(tmp_path, channels=1, labels="labels.csv")
    assert [source.class_names[label] for label in source.labels] == [
        "even" if value % 2 == 0 else "odd" for value in source.in_memory[:, 0, 0, 0]
    ]


@pytest.mark.parametrize("span", [(-1.0, 1.0), (0.0, 1.0)])
def test_red_stays_red_from_the_file_to_the_grid(tmp_path: Path, span):
    half = np.zeros((8, 8, 3), np.uint8)
    half[:, :4, 0] = 255
    (tmp_path / "é").mkdir()
    Image.fromarray(half).save(tmp_path / "é" / "red.png")
    source = opened(tmp_path / "é")
    transform = RangeTransform(source.value_range, span)
    Pictures.of(transform, source).write_grid(
        tmp_path / "ünd.png", transform.forward(tf.constant(source.load(np.arange(1)))).numpy()
    )
    with Image.open(tmp_path / "ünd.png") as grid:
        assert (grid.mode, grid.getpixel((2, 2)), grid.getpixel((9, 9))) == ("RGB", (255, 0, 0), (0, 0, 0))


def test_inputs_in_float64_are_cast_at_the_edge(tmp_path: Path):
    values = RANDOM.normal(size=(5, 3))
    np.save(tmp_path / "x.npy", values)
    found = read_inputs(tmp_path / "x.npy", Arrays(path="x.npy"), (3,), None).values
    assert found.dtype == np.float32
    assert (found == values.astype(np.float32)).all()
