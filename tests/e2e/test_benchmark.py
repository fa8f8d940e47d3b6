"""`gantrain benchmark`, through the command line."""

from __future__ import annotations

import json

import pytest

from tests.e2e.command import here, write_config

EVENTS = ("lines of metrics", "pictures", "checkpoints")


def test_the_time_of_a_step_is_told_part_by_part_and_nothing_is_kept(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain = {"generator": {"name": "mlp", "units": [8]}, "discriminator": {"name": "mlp", "units": [8]}}
    config = write_config(tmp_path / "spec.yaml", {**plain, "data.batch_size": 8})
    done = here(capsys, "benchmark", config, "--seconds", "0.5", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    parts = {part["name"]: part for part in found["parts"]}
    assert list(parts) == [
        "data", "discriminator: loss and gradient", "generator: loss and gradient", "updates of the weights", "moving average",
        *EVENTS,
    ]  # fmt: skip
    assert all(0 < part["ms"] < 10_000 for part in parts.values())
    assert found["loop_over_step"] == pytest.approx(found["loop_images_per_sec"] / found["step_images_per_sec"])
    step_ms = 8e3 / found["loop_images_per_sec"]
    assert all(part["share"] == pytest.approx(part["ms"] / step_ms) for part in parts.values())
    assert found["events_share"] == pytest.approx(sum(parts[name]["share"] for name in EVENTS))
    assert [path.name for path in tmp_path.iterdir()] == ["spec.yaml"]
