"""Folders of 16-bit and float pictures keep every value; a folder of mixed depth becomes 8 bits, and the scan says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain.data import image_folder as module
from gantrain.data.catalog import ImageFolder
from gantrain.data.image_folder import build
from gantrain.data.transforms import RangeTransform
from gantrain.errors import DataError

from .test_depth import png16, random16, tiff16


def opened(folder: Path, channels: int = 3, **changes):
    return build(ImageFolder(path=".", height=8, width=8, channels=channels, **changes), folder)


@pytest.mark.parametrize("large", [False, True])
def test_16_bit_pictures_keep_all_65536_values_and_record_their_range(tmp_path: Path, monkeypatch, large: bool):
    monkeypatch.setattr(module, "LARGEST_IN_MEMORY", 0 if large else 2**20)
    values = np.stack([random16(3), random16(3)])
    png16(tmp_path / "a.png", values[0])
    tiff16(tmp_path / "b.tif", values[1], "<")
    source = opened(tmp_path)
    assert (source.in_memory is None) is large
    loaded = source.load(np.array([0, 1]))
    assert (loaded.dtype, source.value_range) == (np.float32, (0.0, 65535.0))
    assert (loaded == values).all()
    assert "all values kept in 0..65535" in source.report.lines[1]


def test_what_the_networks_see_leads_back_to_the_same_16_bit_values(tmp_path: Path):
    values = np.arange(65536, dtype=np.uint16).reshape(1024, 64)
    Image.fromarray(values).save(tmp_path / "a.png")
    source = build(ImageFolder(path=".", height=1024, width=64, channels=1), tmp_path)
    transform = RangeTransform(source.value_range, (-1.0, 1.0))
    back = transform.inverse(transform.forward_array(source.load(np.array([0]))))
    assert (np.rint(back[0, ..., 0]) == values).all()


def test_float_pictures_keep_their_values_in_the_declared_range(tmp_path: Path):
    values = np.linspace(-1, 3, 64, dtype=np.float32).reshape(8, 8)
    Image.fromarray(values).save(tmp_path / "a.tiff")
    source = opened(tmp_path, 1, value_range=(-1, 3))
    assert source.value_range == (-1, 3)
    assert (source.load(np.array([0]))[0, ..., 0] == values).all()
    with pytest.raises(DataError, match=r"a\.tiff: holds 32-bit values from -1 to 3, outside value_range \[-1, 1\]"):
        opened(tmp_path, 1, value_range=(-1, 1))


def test_a_mixed_folder_becomes_8_bits_each_by_its_own_depth_with_a_warning(tmp_path: Path):
    values = random16(3)
    png16(tmp_path / "deep.png", values)
    Image.fromarray((values >> 8).astype(np.uint8)).save(tmp_path / "plain.png")
    source = opened(tmp_path)
    deep, plain = source.load(np.array([0, 1]))
    assert (deep == np.rint(values / 257)).all()
    assert (plain == values >> 8).all()
    assert (
        "more than 8 bits per channel in 1 of 2 pictures, the others have 8 (deep.png): each is scaled"
        in source.report.warnings[0]
    )


def test_transparency_is_composited_in_the_units_of_the_pictures(tmp_path: Path):
    values = np.full((8, 8, 4), 10_000, np.uint16)
    values[..., 3] = 65535
    values[0, 0, 3], values[1, 1, 3] = 0, 13107  # a fifth
    png16(tmp_path / "a.png", values)
    out = opened(tmp_path, background="#ff0000").load(np.array([0]))[0]
    assert out[0, 0].tolist() == [65535, 0, 0]
    assert np.allclose(out[1, 1], [0.2 * 10_000 + 0.8 * 65535, 2000, 2000], rtol=1e-6)
    assert (out[2:] == 10_000).all()


def test_one_transparent_16_bit_gray_shows_the_background(tmp_path: Path):
    values = np.full((8, 8, 1), 500, np.uint16)
    values[0, 0] = 501
    png16(tmp_path / "a.png", values, (500,))
    out = opened(tmp_path, 1, background="black").load(np.array([0]))[0, ..., 0]
    assert out[0, 0] == 501
    assert (out.ravel()[1:] == 0).all()


def test_kept_alpha_is_a_channel_of_the_same_range_and_hidden_colours_are_removed(tmp_path: Path):
    values = random16(4)
    values[..., 3] = np.where(np.arange(8) < 4, 0, values[..., 3] | 1)
    png16(tmp_path / "a.png", values)
    out = opened(tmp_path, 4, background="black").load(np.array([0]))[0]
    assert (out[:, :4] == 0).all()
    assert (out[:, 4:, :3] == values[:, 4:, :3]).all()
    assert np.allclose(out[:, 4:, 3], values[:, 4:, 3], rtol=1e-6)


@pytest.mark.parametrize("framing", ["crop", "pad", "stretch"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_resized_deep_pictures_are_what_8_bit_ones_become_to_within_their_rounding(tmp_path: Path, framing: str, channels: int):
    plain = np.random.default_rng(1).integers(0, 256, (20, 12, 3 if channels < 4 else 4), np.uint8)
    plain[4:9, :, 3:] = 0
    (tmp_path / "deep").mkdir()
    (tmp_path / "plain").mkdir()
    png16(tmp_path / "deep/a.png", plain.astype(np.uint16) * 257)
    Image.fromarray(plain).save(tmp_path / "plain/a.png")
    deep, shallow = (
        opened(tmp_path / name, channels, framing=framing, background="#20a0f0").load(np.array([0]))[0].astype(float)
        for name in ("deep", "plain")
    )
    assert deep.min() >= 0
    assert deep.max() <= 65535
    if channels < 4:
        assert np.abs(deep / 257 - shallow).max() <= 1.5
        return
    assert np.abs(deep[..., 3] / 257 - shallow[..., 3]).max() <= 1.5
    opaque = shallow[..., 3] > 128  # elsewhere Pillow's 8 bits lose the colour
    assert np.abs(deep[..., :3] / 257 - shallow[..., :3])[opaque].max() <= 4


def test_deep_pictures_are_turned_as_exif_says(tmp_path: Path):
    values = np.arange(64, dtype=np.uint16).reshape(8, 8) * 1000
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(values).save(tmp_path / "a.png", exif=exif)
    out = opened(tmp_path, 1).load(np.array([0]))[0, ..., 0]
    assert (out == np.rot90(values, -1)).all()


def test_a_deep_file_that_became_shallow_after_the_scan_is_named(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_IN_MEMORY", 0)
    png16(tmp_path / "a.png", random16(3))
    source = opened(tmp_path)
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    with pytest.raises(DataError, match=r"a\.png: has 8 bits per channel, and had more when the folder was scanned"):
        source.load(np.array([0]))
