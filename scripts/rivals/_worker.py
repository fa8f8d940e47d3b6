"""What every rival shares: pictures in memory, and the talk with scripts/bench_nets.py over its standard streams."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

IMAGES = 4096  # random bytes: speed does not depend on what is seen
LATENT = 100
WARM_UP_STEPS = 4


@dataclass(frozen=True)
class Workload:
    """One network pair at one size; `beta_1` and `learning_rate` of Adam."""

    shape: tuple[int, int, int]
    batch: int
    learning_rate: float
    beta_1: float


WORKLOADS = {
    "W1": Workload((28, 28, 1), 128, 2e-4, 0.5),  # dense, 256-512-1024 against 512-256
    "W2": Workload((28, 28, 1), 64, 1e-4, 0.9),  # the DCGAN of TensorFlow's tutorial
    "W3": Workload((64, 64, 3), 64, 2e-4, 0.5),  # DCGAN, width 64
    "W4": Workload((32, 32, 3), 64, 2e-4, 0.5),  # SNGAN's residual nets, width 64
}


def pictures(workload: Workload) -> np.ndarray:
    """[IMAGES,H,W,C] uint8."""
    return np.random.default_rng(0).integers(0, 256, (IMAGES, *workload.shape), np.uint8)


def arguments() -> tuple[str, str]:
    """The workload's name and the precision (float32 | bfloat16) of the command line."""
    return sys.argv[1], (sys.argv[2] if len(sys.argv) > 2 else "float32")


def serve(batch: int, run: Callable[[int], float | None]) -> None:
    """Take the first step, say so, warm up; then train for as many seconds as each line of standard input asks.

    `run(steps)` trains and returns the seconds it took if that is not the time of the whole call.
    """
    run(1)
    _say({"ready": True})
    seconds = _timed(run, WARM_UP_STEPS)
    per_step = seconds / WARM_UP_STEPS
    for line in sys.stdin:
        steps = max(2, round(float(line) / per_step))
        seconds = _timed(run, steps)
        per_step = seconds / steps
        _say({"images": steps * batch, "seconds": seconds, "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024})


def _timed(run: Callable[[int], float | None], steps: int) -> float:
    started = time.perf_counter()
    own = run(steps)
    return time.perf_counter() - started if own is None else own


def _say(what: dict) -> None:
    print(json.dumps(what), flush=True)
