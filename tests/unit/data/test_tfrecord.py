"""TFRecord files, against files written byte by byte and against TensorFlow's own writer."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gantrain.data import records, tfrecord
from gantrain.data.file_settings import TfRecord
from gantrain.data.tfrecord import build
from gantrain.errors import DataError
from tests.records import crc32c, example, masked, write_records

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 4, 3, 3), np.uint8)


def png(pixels: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format="PNG")
    return buffer.getvalue()


def settings(**changes) -> TfRecord:
    return TfRecord(**{"path": "a.tfrecord", "shape": (4, 3, 3), **changes})


def test_the_checksum_is_that_of_the_standard():
    assert crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32C
    messages = [b"", b"a", b"abc", b"abcd", b"123456789", bytes(33), np.random.default_rng(0).bytes(1001)]
    ours = records.masked_crcs(messages)
    assert [int(crc).to_bytes(4, "little") for crc in ours] == [masked(message) for message in messages]


def test_pictures_raw_bytes_and_numbers_give_the_same_values(tmp_path: Path):
    write_records(tmp_path / "a.tfrecord", [example(image=png(pixels)) for pixels in PIXELS])
    write_records(tmp_path / "b.tfrecord", [example(image=pixels.tobytes()) for pixels in PIXELS])
    write_records(tmp_path / "c.tfrecord", [example(image=pixels.ravel().tolist()) for pixels in PIXELS])
    assert (build(settings(), tmp_path).in_memory == PIXELS).all()
    assert (build(settings(path="b.tfrecord", encoding="raw"), tmp_path).in_memory == PIXELS).all()
    numbers = build(settings(path="c.tfrecord", encoding="numbers", value_range=(0, 255)), tmp_path)
    assert (numbers.in_memory == PIXELS).all()
    assert numbers.in_memory.dtype == np.float32


def test_a_file_of_tensorflow_is_read_whatever_the_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import tensorflow as tf

    values = np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32)
    with tf.io.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        for number, row in enumerate(values):
            feature = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=row)),
                "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 2 * 5 - 2])),
                "other": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"q" * 300])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    wanted = settings(feature="x", shape=(3,), encoding="numbers", label="y")
    assert (build(wanted, tmp_path).in_memory == values).all()
    monkeypatch.setattr(tfrecord, "LARGEST_IN_MEMORY", 0)
    source = build(wanted, tmp_path)
    assert source.in_memory is None
    assert (source.load(np.array([6, 0, 3])) == values[[6, 0, 3]]).all()
    assert (source.class_names, source.labels.tolist()) == (("-2", "3"), [0, 1, 0, 1, 0, 1, 0])


def test_files_of_a_folder_follow_each_other_by_name(tmp_path: Path):
    for name, part in (("b.tfrecord", PIXELS[3:]), ("a.tfrecord", PIXELS[:3])):
        write_records(tmp_path / name, [example(image=png(pixels), label="cat") for pixels in part])
    source = build(settings(path=".", label="label"), tmp_path)
    assert (source.in_memory == PIXELS).all()
    assert source.class_names == ("cat",)


def damaged(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda path: damaged(path, 40), r"a\.tfrecord: record 0 is damaged \(its checksum is wrong\)"),
        (lambda path: damaged(path, -10), r"a\.tfrecord: record 4 is damaged"),
        (lambda path: damaged(path, 0), r"a\.tfrecord is no TFRecord file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), r"a\.tfrecord is cut off in record 4"),
        (lambda path: path.write_bytes(b""), r"a\.tfrecord holds no records"),
        (lambda path: path.write_bytes(__import__("gzip").compress(path.read_bytes())), r"is compressed \(gzip\)"),
        (lambda path: path.unlink(), r"a\.tfrecord does not exist"),
        (lambda path: write_records(path, [b"hello, no example"]), r"record 0 is no tf\.train\.Example|has no feature"),
        (lambda path: write_records(path, [example(img=b"x")]), r"record 0 has no feature 'image'; it has: img"),
        (lambda path: write_records(path, [example(image=b"x")]), r"record 0, feature 'image': is no picture of a known format"),
        (lambda path: write_records(path, [example(image=[1, 2])]), r"feature 'image' is no single bytes value; write encoding"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_record(tmp_path: Path, harm, message: str):
    path = write_records(tmp_path / "a.tfrecord", [example(image=png(pixels)) for pixels in PIXELS])
    harm(path)
    with pytest.raises(DataError, match=message):
        build(settings(), tmp_path)


def test_numbers_outside_the_range_or_of_another_shape_are_refused(tmp_path: Path):
    write_records(tmp_path / "a.tfrecord", [example(x=np.array([0.5, 2.0, 1.0], np.float32))])
    wanted = {"feature": "x", "encoding": "numbers", "shape": (3,)}
    with pytest.raises(
        DataError, match=r"record 0: 33\.3 % of its values lie outside value_range \[0, 1\]; they go from 0\.5 to 2"
    ):
        build(settings(**wanted, value_range=(0, 1)), tmp_path)
    with pytest.raises(DataError, match=r"holds 3 values, shape \[4\] needs others"):
        build(settings(**{**wanted, "shape": (4,)}), tmp_path)
    with pytest.raises(DataError, match="float pictures have no natural range"):
        build(settings(**{**wanted, "shape": (1, 1, 3)}), tmp_path)


def test_several_labels_are_not_silently_one(tmp_path: Path):
    write_records(tmp_path / "a.tfrecord", [example(image=png(PIXELS[0]), y=[1, 0, 1])])
    with pytest.raises(DataError, match=r"label 'y' has 3 values \(multi-hot\?\)"):
        build(settings(label="y"), tmp_path)
