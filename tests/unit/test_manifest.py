"""The manifest proves itself."""

from __future__ import annotations

import json

import pytest

from gantrain.errors import RunError
from gantrain.manifest import DataFacts, FileFacts, Manifest

MANIFEST = Manifest(
    step=500,
    data=DataFacts(
        dtype="uint8",
        shape=(28, 28, 1),
        source_range=(0.0, 255.0),
        network_range=(-1.0, 1.0),
        class_names=("Größe", "b"),
        fingerprint="ab",
    ),
    files={"state.index": FileFacts(bytes=3, sha256="00")},
)


def test_it_reads_back_equal(tmp_path):
    path = tmp_path / "manifest.json"
    path.write_text(MANIFEST.to_json(), encoding="utf-8")
    assert Manifest.load(path) == MANIFEST
    points = MANIFEST.model_copy(
        update={"data": DataFacts(shape=(2,), dtype="float32", source_range=None, network_range=None, fingerprint="")}
    )
    path.write_text(points.to_json(), encoding="utf-8")
    assert Manifest.load(path) == points


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        "null",
        '"x"',
        "{}",
        '{"sha256": "00"}',
        "\x00\x01",
        MANIFEST.to_json().replace("500", "501"),
        "[" * 3000,
    ],
)
def test_anything_else_is_refused_by_the_name_of_the_file(tmp_path, text):
    path = tmp_path / "manifest.json"
    path.write_text(text)
    with pytest.raises(RunError, match=r"manifest\.json is damaged"):
        Manifest.load(path)


def test_another_format_is_refused(tmp_path):
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({**json.loads(MANIFEST.to_json()), "format": 2}))
    with pytest.raises(RunError, match="another gantrain version: format"):
        Manifest.load(path)


def test_a_missing_or_binary_file_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"manifest\.json: it does not exist"):
        Manifest.load(tmp_path / "manifest.json")
    (tmp_path / "manifest.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RunError, match="damaged"):
        Manifest.load(tmp_path / "manifest.json")
