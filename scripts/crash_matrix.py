"""Kill a run at many moments, type the same command again, and compare with a run that was left alone.

python scripts/crash_matrix.py --seed S --count N: of five moments two are SIGKILL at a random change of a file (a checkpoint,
a grid, a line of metrics, a rename), one is SIGKILL after a random time, one SIGTERM or SIGINT, once or twice, and in one the
system refuses from a random change on (full, quota, read-only, ...), is slow, or its clock jumps. The same checkpoints must be
left, tensors and pictures with the same bytes and metrics with the same numbers, timings aside. Ends with 0 if all are.

The runs are forks of one process that has imported TensorFlow and not used it: each costs about two seconds.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.faults import matrix


def main() -> int:
    """Draw the moments, run them, say what differed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args()
    started = time.monotonic()
    importlib.import_module("gantrain.fitting")  # TensorFlow too
    with tempfile.TemporaryDirectory() as folder:
        reference = matrix.Reference.make(Path(folder))
        print(f"reference: {reference.operations} file operations, {reference.seconds:.1f} s", flush=True)
        failures = 0
        for index, moment in enumerate(matrix.draw(options.seed, options.count, reference)):
            problem = matrix.try_moment(reference, moment)
            failures += problem is not None
            print(f"{index + 1:4d} {moment}: {problem or 'same'}", flush=True)
    print(f"{options.count} moments, {failures} differed, {time.monotonic() - started:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
