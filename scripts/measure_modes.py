"""Mode coverage of a recipe on a Gaussian mixture over several seeds, and of the plain minimax game beside it.

.venv/bin/python scripts/measure_modes.py [--config configs/grid_rpgan.yaml] [--seeds 5] [--minimax]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
MINIMAX = ["objective.loss=minimax", "objective.penalties=[]"]


def run(config: str, seed: int, changes: list[str], folder: Path) -> dict:
    """Train one seed by the command; its last scores and the seconds it took."""
    settings = [part for change in (f"seed={seed}", *changes) for part in ("--set", change)]
    command = [sys.executable, "-m", "gantrain", "fit", config, "--run-dir", str(folder), "--device", "cpu", "--quiet", *settings]
    started = time.monotonic()
    subprocess.run(command, check=True, cwd=ROOT)
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    scores = [line for line in lines if "eval/mode_coverage" in line][-1]
    return {"seed": seed, **scores, "sec": round(time.monotonic() - started)}


def measure(name: str, config: str, seeds: int, changes: list[str]) -> None:
    """Print one JSON object per seed and one for all."""
    results = []
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as folder:
            results.append(run(config, seed, changes, Path(folder) / "run"))
        print(json.dumps({"recipe": name, **results[-1]}), flush=True)
    quality = [result["eval/high_quality"] for result in results]
    modes = [result["eval/mode_coverage"] for result in results]
    print(json.dumps({"recipe": name, "modes": modes, "least": min(quality), "median": float(np.median(quality))}))


def main() -> None:
    """The recipe, then the same nets with the plain game."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="configs/grid_rpgan.yaml")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--minimax", action="store_true", help="also the plain minimax game")
    arguments = parser.parse_args()
    measure(Path(arguments.config).stem, arguments.config, arguments.seeds, [])
    if arguments.minimax:
        measure("minimax", arguments.config, arguments.seeds, MINIMAX)


if __name__ == "__main__":
    main()
