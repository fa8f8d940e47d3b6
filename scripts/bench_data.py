"""How fast data comes, in images per second: from memory, packed, from a folder; and bare tf.io, for comparison.

    .venv/bin/python scripts/benchmark.py data [--quick] [--json FILE] [FOLDER_OF_PNG]

All pictures of the folder must be 64x64 RGBA; without one, 4,000 are made. The roads are measured in turns, each from a fresh
dataset to ready float32 batches (bare tf.io: to uint8 batches); the table gives medians, and the median of each turn's ratio to
bare tf.io in the same turn; then the processor time per image, which other work on the machine disturbs less, and its ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gantrain import registry
from gantrain.data import image_folder, packed, packing
from gantrain.data.catalog import ImageFolder
from gantrain.data.file_settings import Packed
from gantrain.data.memory import MemorySource
from gantrain.startup import start_tensorflow

BATCH, WARM_UP = 64, 8  # pictures; batches that are not counted
FASHION_LIKE = (60_000, 28, 28, 1)
BARE = "bare tf.io, folder of 64x64 PNG"

Road = Callable[[], Any]  # -> an endless dataset of batches


def turn(road: Road, seconds: float) -> tuple[float, float]:
    """Images per second of a fresh dataset after a warm-up, and microseconds of processor time per image, of all threads."""
    batches = iter(road())
    for _ in range(WARM_UP):
        next(batches)
    started, busy, count = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - started < seconds:
        next(batches)
        count += BATCH
    return count / (time.perf_counter() - started), 1e6 * (time.process_time() - busy) / count


def ours(source: Any) -> Road:
    """Batches as training reads them."""
    from gantrain.data.order import Order
    from gantrain.data.pipeline import batches
    from gantrain.data.transforms import RangeTransform
    from gantrain.spec.model import Data

    data = Data.model_validate({"source": {"name": "digits"}, "batch_size": BATCH})
    transform = RangeTransform(source.value_range, (-1.0, 1.0))
    return lambda: batches(source, data, Order(0), 0, False, transform)


def bare(paths: list[Path]) -> Road:
    """What tf.io alone gives: read, decode to RGBA, batch; all cores, any order."""
    import tensorflow as tf

    def dataset() -> Any:
        names = tf.data.Dataset.from_tensor_slices([str(path) for path in paths]).shuffle(len(paths)).repeat()
        decoded = names.map(lambda name: tf.io.decode_png(tf.io.read_file(name), 4), tf.data.AUTOTUNE, deterministic=False)
        return decoded.batch(BATCH).prefetch(2)

    return dataset


def made(folder: Path) -> Path:
    """4,000 RGBA pictures that compress like drawings."""
    rng = np.random.default_rng(0)
    for number in range(4000):
        small = rng.integers(0, 256, (8, 8, 4), np.uint8)
        Image.fromarray(small).resize((64, 64), Image.Resampling.BICUBIC).save(folder / f"{number:05d}.png")
    return folder


def roads(folder: Path, work: Path) -> dict[str, Road]:
    """What is compared, by name."""
    settings = ImageFolder(path=str(folder), height=64, width=64)
    fashion = MemorySource(np.random.default_rng(0).integers(0, 256, FASHION_LIKE, np.uint8), (0.0, 255.0))
    packing.write(fashion, {}, work / "fashion.pack")
    small = registry.build(settings, work)
    image_folder.LARGEST_IN_MEMORY = packed.LARGEST_IN_MEMORY = 0  # as if the sets were large
    large = registry.build(settings, work)
    return {
        "in memory, 28x28": ours(fashion),
        "packed and mapped, 28x28": ours(registry.build(Packed(path="fashion.pack"), work)),
        BARE: bare(sorted(folder.rglob("*.png"))),
        "folder too large for memory": ours(large),
        "folder too large for memory, by Pillow alone": ours(replace(large, traced=None)),
        "folder kept in memory, 64x64": ours(small),
    }


def measure(compared: dict[str, Road], turns: int, seconds: float) -> dict[str, dict[str, float]]:
    """Name -> medians."""
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in compared}
    for _ in range(turns):
        for name, road in compared.items():
            figures[name].append(turn(road, seconds))
    return {
        name: {
            "images_per_sec": statistics.median(speed for speed, _ in mine),
            "of_bare_tf_io": statistics.median(one[0] / other[0] for one, other in zip(mine, figures[BARE], strict=True)),
            "processor_us": statistics.median(busy for _, busy in mine),
            "bare_by_processor": statistics.median(other[1] / one[1] for one, other in zip(mine, figures[BARE], strict=True)),
        }
        for name, mine in figures.items()
    }


def main(arguments: list[str]) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="benchmark.py data", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="pictures, all 64x64 PNG with alpha")
    parser.add_argument("--quick", action="store_true", help="three short turns instead of seven")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    wanted = parser.parse_args(arguments)
    start_tensorflow("cpu")
    registry.load_built_in()
    with tempfile.TemporaryDirectory() as place:
        folder = wanted.folder.resolve() if wanted.folder else made(Path(place))
        turns, seconds = (3, 0.7) if wanted.quick else (7, 2.0)
        figures = measure(roads(folder, Path(place)), turns, seconds)
    for name, row in figures.items():
        speed = f"{row['images_per_sec']:10,.0f} images/s, {row['of_bare_tf_io']:6.2f} of bare tf.io"
        sys.stdout.write(f"{name:46}{speed};{row['processor_us']:7.1f} us, {row['bare_by_processor']:6.2f}\n")
    if wanted.json:
        wanted.json.write_text(json.dumps(figures, indent=1))
