"""What saving costs the loop: DCGAN at 64x64, batches of 64, a checkpoint every 100 steps. python scripts/bench_saving.py

Measures one step, the part of a checkpoint for which the loop waits (the snapshot), and the processor time of the part that is
written while training goes on. Their sum is the cost where the processor is busy anyway, else the snapshot alone is it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from gantrain import checkpoint, experiment, registry
from gantrain.spec.model import Spec

EVERY = 100  # steps between checkpoints
STEPS = 4
LIMIT = 0.05


def built(folder: Path) -> experiment.Experiment:
    """DCGAN-64 on random pictures: what they show does not matter here."""
    np.save(folder / "x.npy", np.random.default_rng(0).integers(0, 256, (256, 64, 64, 3), np.uint8))
    tree = {
        "name": "saving",
        "data": {"source": {"name": "arrays", "path": str(folder / "x.npy")}, "batch_size": 64},
        "generator": "dcgan",
        "discriminator": "dcgan",
        "training": {"steps": STEPS},
    }
    registry.load_built_in()
    spec = Spec.model_validate(tree)
    source, _ = experiment.open_source(spec, folder)
    made = experiment.build(spec, source)
    made.start_data()
    return made


def main() -> int:
    """Measure, print as JSON, judge."""
    with tempfile.TemporaryDirectory() as name:
        made = built(Path(name))
        made.engine.run(1)  # compiles
        started = time.perf_counter()
        made.engine.run(STEPS)
        step_sec = (time.perf_counter() - started) / STEPS
        blocking, behind = [], []
        for number in range(5):
            started = time.perf_counter()
            tensors = checkpoint.snapshot(made.state)
            blocking.append(time.perf_counter() - started)
            used = time.process_time()
            checkpoint.write(Path(name), number, tensors, "", made.data_facts)
            behind.append(time.process_time() - used)
    share = (median(blocking) + median(behind)) / (EVERY * step_sec)
    facts = {"step_sec": step_sec, "snapshot_sec": median(blocking), "written_behind_cpu_sec": median(behind), "share": share}
    print(json.dumps({key: round(value, 5) for key, value in facts.items()}))
    return 0 if share < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
