"""The fast road gives Pillow's pixels, for every kind of picture it takes, and names a file that breaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain.data import image_folder as module
from gantrain.data.catalog import ImageFolder
from gantrain.data.image_folder import build
from gantrain.data.order import Order
from gantrain.data.pipeline import batches, data_errors
from gantrain.data.traced import PILLOW
from gantrain.data.transforms import RangeTransform
from gantrain.errors import DataError
from gantrain.spec.model import Data

RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every set counts as too large for memory."""
    monkeypatch.setattr(module, "LARGEST_IN_MEMORY", 0)


def palette(transparent: bool) -> tuple[Image.Image, dict]:
    image = Image.fromarray(RANDOM.integers(0, 16, (8, 6), np.uint8), "P")
    image.putpalette(RANDOM.integers(0, 256, 48, np.uint8).tobytes())
    return image, {"transparency": bytes(RANDOM.integers(0, 256, 16, np.uint8).tolist())} if transparent else {}


def pixels(*shape: int) -> np.ndarray:
    return RANDOM.integers(0, 256, (8, 6, *shape), np.uint8)


MODES = {
    "one bit": lambda: (Image.fromarray(pixels() > 127), {}),
    "gray": lambda: (Image.fromarray(pixels()), {}),
    "gray with one transparent value": lambda: (Image.fromarray(pixels() // 64), {"transparency": 2}),
    "gray with alpha": lambda: (Image.fromarray(pixels(2)), {}),
    "palette": lambda: palette(False),
    "palette with alpha": lambda: palette(True),
    "colour": lambda: (Image.fromarray(pixels(3)), {}),
    "colour with one transparent value": lambda: (Image.fromarray(pixels(3) // 128), {"transparency": (1, 0, 1)}),
    "colour with alpha": lambda: (Image.fromarray(pixels(4)), {}),
}


def opened(folder: Path, channels: int):
    return build(ImageFolder(path=".", height=8, width=6, channels=channels, background="#20a0f0"), folder)


def read_all(source) -> np.ndarray:
    """Everything that the pipeline gives in one epoch, in the order of the files."""
    data = Data.model_validate({"source": {"name": "digits"}, "batch_size": source.length, "range": None})
    order = [int(index) for index in next(iter(batches(Numbers(source.length), data, Order(0), 0, False, PLAIN)))["real"][:, 0]]
    with data_errors(source):
        real = next(iter(batches(source, data, Order(0), 0, False, PLAIN)))["real"].numpy()
    return real[np.argsort(order)]


PLAIN = RangeTransform(None, None)


class Numbers:
    """Examples that are their own numbers: tells the order."""

    def __init__(self, length: int) -> None:
        self.length, self.shape, self.labels, self.class_names, self.value_range = length, (1,), None, (), None
        self.in_memory = np.arange(length, dtype=np.float32)[:, None]


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_of_png_is_what_pillow_gives(tmp_path: Path, mode: str):
    for number in range(3):
        image, options = MODES[mode]()
        image.save(tmp_path / f"{number}.png", **options)
    source = opened(tmp_path, 3)
    assert source.traced is not None
    assert (read_all(source) == source.load(np.arange(3))).all()


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_modes_side_by_side_are_what_pillow_gives(tmp_path: Path, channels: int):
    for name, make in MODES.items():
        image, options = make()
        image.save(tmp_path / f"{name}.png", **options)
    source = opened(tmp_path, channels)
    assert PILLOW not in source.traced.roads
    assert (read_all(source) == source.load(np.arange(len(MODES)))).all()


@pytest.mark.parametrize("channels", [1, 3])
def test_jpeg_is_what_pillow_gives(tmp_path: Path, channels: int):
    for number in range(12):
        Image.fromarray(pixels(3)).save(tmp_path / f"{number:02d}.jpg", subsampling=number % 3, quality=60 + 3 * number)
    Image.fromarray(pixels()).save(tmp_path / "gray.jpg")
    source = opened(tmp_path, channels)
    assert source.traced is not None
    assert (read_all(source) == source.load(np.arange(13))).all()


def cmyk(path: Path) -> None:
    Image.fromarray(pixels(4), "CMYK").save(path / "x.jpg")


def turned(path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 3
    Image.fromarray(pixels(3)).save(path / "x.png", exif=exif)


ODD = {
    "cmyk": cmyk,
    "turned": turned,
    "webp": lambda path: Image.fromarray(pixels(3)).save(path / "x.webp"),
    "transparent webp": lambda path: Image.fromarray(pixels(4)).save(path / "x.webp", lossless=True),
    "larger": lambda path: Image.fromarray(RANDOM.integers(0, 256, (9, 9, 3), np.uint8)).save(path / "x.png"),
    "16 bits": lambda path: Image.fromarray(pixels().astype(np.uint16) * 200).save(path / "x.png"),
}


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_plain_files_take_the_fast_road_and_the_others_come_through_pillow(tmp_path: Path, channels: int):
    for number, add in enumerate(ODD.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        add(folder)
        Image.fromarray(pixels(3)).save(folder / "plain.png")
        Image.fromarray(pixels(3)).save(folder / "plain.jpg")
    source = opened(tmp_path, channels)
    assert source.traced.roads.count(PILLOW) == len(ODD)
    assert (read_all(source) == source.load(np.arange(3 * len(ODD)))).all()


def test_a_folder_where_most_files_need_more_than_decoding_is_read_by_pillow_alone(tmp_path: Path):
    for number in range(3):
        Image.fromarray(pixels(3)).save(tmp_path / f"{number}.webp")
    Image.fromarray(pixels(3)).save(tmp_path / "plain.png")
    source = opened(tmp_path, 3)
    assert source.traced is None
    assert (read_all(source) == source.load(np.arange(4))).all()


@pytest.mark.parametrize("flips", [True, False])
def test_both_roads_give_the_networks_the_same_bits(tmp_path: Path, flips: bool):
    for number in range(6):
        Image.fromarray(pixels(4)).save(tmp_path / f"{number}.png")
    source = opened(tmp_path, 3)
    data = Data.model_validate({"source": {"name": "digits"}, "batch_size": 4, "augment": {"horizontal_flip": flips}})
    transform = RangeTransform(source.value_range, (-1.0, 1.0))
    fast, slow = (
        next(iter(batches(road, data, Order(3), 2, False, transform)))["real"].numpy()
        for road in (source, replace(source, traced=None))
    )
    assert (fast == slow).all()


def test_alpha_that_hides_nothing_is_dropped_while_decoding(tmp_path: Path):
    Image.fromarray(pixels(3)).convert("RGBA").save(tmp_path / "a.png")
    Image.fromarray(pixels()).convert("LA").save(tmp_path / "b.png")
    source = opened(tmp_path, 3)
    assert source.traced.channels == 3
    assert (read_all(source) == source.load(np.arange(2))).all()


def test_a_file_that_breaks_after_the_scan_is_named(tmp_path: Path):
    for number in range(3):
        Image.fromarray(pixels(3)).save(tmp_path / f"{number}.png")
    source = opened(tmp_path, 3)
    (tmp_path / "1.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"1\.png: is empty"):
        read_all(source)


def test_a_smaller_last_batch_takes_the_other_road_and_is_the_same(tmp_path: Path):
    for number in range(5):
        Image.fromarray(pixels(3)).save(tmp_path / f"{number}.png")
    source = opened(tmp_path, 3)
    firsts = []
    for epoch_end in ("partial", "drop"):
        data = Data.model_validate({"source": {"name": "digits"}, "batch_size": 3, "epoch_end": epoch_end, "range": None})
        dataset = iter(batches(source, data, Order(0), 0, False, PLAIN))
        firsts.append(next(dataset)["real"].numpy())
        assert len(next(dataset)["real"]) == (2 if epoch_end == "partial" else 3)
    assert (firsts[0] == firsts[1]).all()
