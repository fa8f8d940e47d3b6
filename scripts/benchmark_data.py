"""How fast data comes, in images per second: from memory, from a packed file, from a folder, and bare tf.io for comparison.

    .venv/bin/python scripts/benchmark_data.py [FOLDER_OF_PNG]

Without a folder, 4,000 pictures of 64x64 are made. All figures are of one run, one after the other, best of three.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from gantrain import registry
from gantrain.data import image_folder, packed, packing
from gantrain.data.catalog import ImageFolder
from gantrain.data.file_settings import Packed
from gantrain.data.memory import MemorySource
from gantrain.startup import start_tensorflow

BATCH, SECONDS, REPEATS = 64, 2.0, 3
FASHION_LIKE = (60_000, 28, 28, 1)


def rate(dataset: Iterator) -> float:
    """Images per second of an endless iterator of batches, after a warm-up."""
    for _ in range(20):
        next(dataset)
    best = 0.0
    for _ in range(REPEATS):
        started, count = time.perf_counter(), 0
        while time.perf_counter() - started < SECONDS:
            next(dataset)
            count += BATCH
        best = max(best, count / (time.perf_counter() - started))
    return best


def ours(source) -> float:
    """Batches as training reads them."""
    from gantrain.data.order import Order
    from gantrain.data.pipeline import batches
    from gantrain.data.transforms import RangeTransform
    from gantrain.spec.model import Data

    data = Data.model_validate({"source": {"name": "digits"}, "batch_size": BATCH})
    return rate(iter(batches(source, data, Order(0), 0, False, RangeTransform(source.value_range, (-1.0, 1.0)))))


def bare(paths: list[Path]) -> float:
    """What tf.io alone gives: read, decode to RGBA, batch; all cores, any order."""
    import tensorflow as tf

    names = tf.data.Dataset.from_tensor_slices([str(path) for path in paths]).repeat()
    decoded = names.map(lambda name: tf.io.decode_png(tf.io.read_file(name), 4), tf.data.AUTOTUNE, deterministic=False)
    return rate(iter(decoded.batch(BATCH).prefetch(2)))


def made(folder: Path) -> Path:
    """4,000 RGBA pictures that compress like drawings."""
    rng = np.random.default_rng(0)
    for number in range(4000):
        small = rng.integers(0, 256, (8, 8, 4), np.uint8)
        Image.fromarray(small).resize((64, 64), Image.Resampling.BICUBIC).save(folder / f"{number:05d}.png")
    return folder


def main() -> None:
    """Print a table."""
    start_tensorflow("cpu")
    registry.load_built_in()
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else made(work)
        fashion = MemorySource(np.random.default_rng(0).integers(0, 256, FASHION_LIKE, np.uint8), (0.0, 255.0))
        packing.write(fashion, {}, work / "fashion.pack")
        settings = ImageFolder(path=str(folder), height=64, width=64)
        paths = sorted(folder.rglob("*.png"))
        rows = {"in memory, 28x28": ours(fashion)}
        rows["folder as it comes (kept in memory), 64x64 PNG"] = ours(registry.build(settings, work))
        image_folder.LARGEST_IN_MEMORY = packed.LARGEST_IN_MEMORY = 0  # as if the sets were large
        rows["packed and mapped, 28x28"] = ours(registry.build(Packed(path="fashion.pack"), work))
        read = registry.build(settings, work)
        for name, figure in (
            ("bare tf.io, 64x64 PNG", lambda: bare(paths)),
            ("folder too large for memory, 64x64 PNG", lambda: ours(read)),
        ):
            rows[name] = figure()
    for name, figure in rows.items():
        print(f"{name:48} {figure:12,.0f} images/s")
    for name in (name for name in rows if name.startswith("folder")):
        print(f"{name} / bare tf.io: {rows[name] / rows['bare tf.io, 64x64 PNG']:.2f}")


if __name__ == "__main__":
    main()
