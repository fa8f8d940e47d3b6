"""What the events of a run tell beyond their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gantrain.manifest import DataFacts
from gantrain.rundir.directory import RunDirectory
from gantrain.training.events import RunEvents
from gantrain.training.loop import Speed
from gantrain.training.progress import Progress


@pytest.mark.parametrize(("busy", "wait", "told"), [(2.0, 1.5, [0.75]), (0.9, 0.8, [])])
def test_waiting_for_data_is_told_once_enough_time_was_measured(tmp_path: Path, busy: float, wait: float, told: list[float]):
    heard = []
    events = RunEvents(
        run=RunDirectory.create_numbered(tmp_path, "run"),
        progress=Progress(("loss/generator",)),
        state={},
        data=DataFacts(shape=(2,), dtype="float32", source_range=None, network_range=None, fingerprint="0"),
        resolved_yaml="",
        draw=lambda _: None,
        epoch_of=float,
        images_per_step=1,
        keep_last=1,
        waited=heard.append,
    )
    events.log(1, Speed(images=10, busy_sec=busy, input_wait_sec=wait))
    assert heard == told
