"""How fast networks train, in images per second, against what one would use instead, all of them in one interleaved run.

    scripts/benchmark.py nets [--quick] [--workloads W1 W2] [--variants naive fit gantrain] [--precision bfloat16] [--json FILE]

Each variant is a process of its own that waits while another one has its turn, so that all see the same machine. PyTorch takes
part where it can be imported, by this interpreter or the one that --torch-python names; it is never needed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rivals.processes import CommandLine, Worker

RIVALS = Path(__file__).parent / "rivals"
VARIANTS = {
    "naive": "naive.py",  # predict and two train_on_batch
    "fit": "fit.py",  # Model.fit with a train_step of its own
    "step": "step.py",  # tf.function, one generator forward
    "torch": "torch_example.py",
    "torch_shared": "torch_shared.py",  # one generator and one discriminator forward on the fakes
    "gantrain": "ours.py",  # the engine with average, facts, checks
    "gantrain_alternating": "ours.py",
    "gantrain_fit": "",  # the command line, with its events
}
# GFLOP per image with shared forwards: 3 per generator and 7 per discriminator multiply-add, less first layers' input gradients
GFLOP = {"W1": 0.0147, "W2": 0.451, "W3": 2.066, "W4": 1.597}  # W4 as written; gantrain computes less


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a table for each workload."""
    options = _options(arguments)
    results = {name: _measured(name, options) for name in options.workloads}
    for name, rows in results.items():
        print(_table(name, rows, options))
    if options.json:
        Path(options.json).write_text(json.dumps({"precision": options.precision, "workloads": results}, indent=2) + "\n")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmark.py nets", description=__doc__.splitlines()[0])
    parser.add_argument("--workloads", nargs="+", choices=list(GFLOP), default=list(GFLOP))
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each variant; the median counts")
    parser.add_argument("--seconds", type=float, default=6.0, help="length of a turn")
    parser.add_argument("--quick", action="store_true", help="W2 only, three short turns: about two minutes")
    parser.add_argument("--torch-python", default=sys.executable, help="an interpreter that can import torch")
    parser.add_argument("--json", help="write the figures to this file, too")
    options = parser.parse_args(arguments)
    if options.quick:
        options.workloads, options.rounds, options.seconds = ["W2"], 3, 3.0
    if subprocess.run([options.torch_python, "-c", "import torch"], capture_output=True, check=False).returncode:
        options.variants = [name for name in options.variants if not name.startswith("torch")]
    return options


def _measured(workload: str, options: argparse.Namespace) -> dict[str, dict]:
    """Figures by variant, and those of the convolution's peak."""
    workers: dict[str, Worker | CommandLine] = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name in ["peak", *options.variants]:
                workers[name] = _started(name, workload, options, Path(folder))
            turns: dict[str, list[float]] = {name: [] for name in workers}
            for _ in range(options.rounds):
                for name, worker in workers.items():
                    turns[name].append(worker.turn(options.seconds))
            return {name: _figures(worker, turns[name]) for name, worker in workers.items()}
        finally:
            for worker in workers.values():
                worker.close()


def _started(name: str, workload: str, options: argparse.Namespace, folder: Path) -> Worker | CommandLine:
    if name == "gantrain_fit":
        return CommandLine(workload, options.precision, folder)
    python = options.torch_python if name.startswith("torch") else sys.executable
    more = ["training.updates=alternating"] if name == "gantrain_alternating" else []
    return Worker([python, str(RIVALS / VARIANTS.get(name, "peak.py")), workload, options.precision, *more])


def _figures(worker: Worker | CommandLine, turns: list[float]) -> dict:
    return {
        "images_per_sec": statistics.median(turns),
        "turns": [round(value, 1) for value in turns],
        "first_step_sec": round(worker.first_step_sec, 2),
        "peak_mib": round(worker.peak_mib),
    }


def _table(workload: str, rows: dict[str, dict], options: argparse.Namespace) -> str:
    """Ratios are medians over the rounds of gantrain's turn over that variant's turn in the same round."""
    peak = rows["peak"]["images_per_sec"]
    lines = [f"{workload}, {options.precision}, convolution peak {peak:,.0f} GFLOP/s", ""]
    lines += ["| variant | images/s | gantrain is | of the peak | memory, MiB | first step, s |", "|---|---|---|---|---|---|"]
    for name, row in rows.items():
        if name == "peak":
            continue
        ratio = _ratio(rows, name)
        share = f"{row['images_per_sec'] * GFLOP[workload] / peak:.2f}" if name not in ("naive", "fit", "torch") else ""
        lines.append(
            f"| {name} | {row['images_per_sec']:,.0f} | {ratio} | {share} | {row['peak_mib']:,} | {row['first_step_sec']} |"
        )
    return "\n".join([*lines, ""])


def _ratio(rows: dict[str, dict], name: str) -> str:
    if "gantrain" not in rows or name == "gantrain":
        return ""
    pairs = zip(rows["gantrain"]["turns"], rows[name]["turns"], strict=True)
    return f"{statistics.median(ours / theirs for ours, theirs in pairs):.2f} x"


if __name__ == "__main__":
    main()
