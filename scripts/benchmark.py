"""What gantrain's speed is, measured: `data` (input), `nets` (training steps), `history` (windows over outputs), `saving`.

    .venv/bin/python scripts/benchmark.py data [--quick] [--json FILE] [FOLDER_OF_PNG]
    .venv/bin/python scripts/benchmark.py history [--quick] [--json FILE]

Each part is a module `bench_NAME.py` beside this file, with a `main(arguments)`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

PARTS = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))


def main() -> None:
    """Run one part."""
    if len(sys.argv) < 2 or sys.argv[1] not in PARTS:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(PARTS)} [--quick] ...")
    importlib.import_module(f"bench_{sys.argv[1]}").main(sys.argv[2:])


if __name__ == "__main__":
    main()
