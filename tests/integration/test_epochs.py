"""Many epochs of real sizes: memory stays where it is, and no epoch begins with a pause."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from gantrain.data.arrays import build as build_arrays
from gantrain.data.catalog import Arrays
from gantrain.data.csv_table import build as build_table
from gantrain.data.file_settings import Csv
from gantrain.data.order import Order
from gantrain.data.pipeline import batches
from gantrain.data.transforms import RangeTransform
from gantrain.spec.model import Data

MIB = 2**20


def data(**settings) -> Data:
    return Data.model_validate({"source": {"name": "digits"}, **settings})


def anonymous_bytes() -> int:
    """Resident memory of this process that is no mapped file."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon"))
    return 1024 * int(line.split()[1])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux' /proc")
def test_memory_does_not_grow_over_twenty_epochs_of_a_labelled_set(tmp_path: Path):
    pictures = np.random.default_rng(0).integers(0, 256, (2000, 128, 128, 3), np.uint8)
    np.savez(tmp_path / "x.npz", x=pictures, y=np.arange(2000) % 10)
    source = build_arrays(Arrays(path="x.npz", key="x", labels_key="y"), tmp_path)
    epochs = batches(source, data(batch_size=50), Order(0), 0, True, RangeTransform((0.0, 255.0), (-1.0, 1.0)))
    after = []
    for number, _ in enumerate(epochs.take(20 * 40), 1):
        if number % 40 == 0:
            after.append(anonymous_bytes())
    assert after[4] > pictures.nbytes  # the set itself is in memory
    assert max(after[5:]) - after[4] < 64 * MIB  # a fifth of one epoch as float32, after fifteen epochs


@pytest.mark.slow
def test_an_epoch_of_a_long_table_begins_without_a_pause(tmp_path: Path):
    rows = np.random.default_rng(0).normal(size=(200_000, 10))
    np.savetxt(tmp_path / "t.csv", rows, "%.4f", ",", header=",".join("abcdefghij"), comments="")
    started = time.perf_counter()
    source = build_table(Csv(path="t.csv"), tmp_path)
    opening = time.perf_counter() - started
    waits, before = [], time.perf_counter()
    for _ in batches(source, data(batch_size=1000, range=None), Order(0), 0, False, RangeTransform(None, None)).take(1000):
        waits.append(time.perf_counter() - before)
        before = time.perf_counter()
    begins = [max(waits[start - 1 : start + 2]) for start in (200, 400, 600, 800)]
    assert max(begins) < 0.1 * opening  # reading the table again, or shuffling rows of text, would take about as long as that
