"""Does a long run stay flat? 20,000 tiny steps with events every 10: resident memory, open files and time per step, by quarters.

python scripts/long_run.py --steps 20000        ends with 0 if the last quarter is like the second one
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gantrain.cli.main import main as gantrain
from gantrain.training.events import RunEvents
from tests.e2e.command import write_config

OUTPUT = {"log_every": 10, "sample_every": 10, "checkpoint_every": 10, "keep_last": 2, "sample_count": 4}
MEMORY_GROWTH = (
    1.05  # of resident memory, last quarter against the second: the allocators of TensorFlow and Python settle in the first
)
TIME_GROWTH = 1.5  # of the median time per step; the disk and other processes make the rest


def resident_mib() -> float:
    """Memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measured(steps: int) -> list[tuple[float, int, float]]:
    """(resident MiB, open files, seconds since the last one) at each line of metrics of a run of `steps`."""
    found, log, last = [], RunEvents.log, [time.perf_counter()]

    def note(self: RunEvents, step: int, speed: object) -> None:
        now = time.perf_counter()
        found.append((resident_mib(), len(os.listdir("/proc/self/fd")), now - last[0]))
        last[0] = now
        log(self, step, speed)  # type: ignore[arg-type]

    RunEvents.log = note  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        config = write_config(Path(folder) / "long.yaml", {"training.steps": steps, "output": OUTPUT, "data.batch_size": 8})
        try:
            gantrain(["fit", str(config), "--run-dir", str(Path(folder) / "run"), "--quiet"])
        except SystemExit as end:
            if end.code:
                raise
    return found


def main() -> int:
    """Run, show the quarters as JSON, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20_000)
    found = measured(parser.parse_args().steps)
    size = len(found) // 4
    quarters = [found[part * size : (part + 1) * size] for part in range(4)]
    memory, files, seconds = ([median(line[column] for line in quarter) for quarter in quarters] for column in range(3))
    print(json.dumps({"resident_mib": memory, "open_files": files, "sec_per_10_steps": seconds}))
    flat = memory[3] <= MEMORY_GROWTH * memory[1] and files[3] <= files[1] and seconds[3] <= TIME_GROWTH * seconds[1]
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())
