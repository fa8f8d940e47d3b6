"""The command `gantrain`, which sends itself a signal at a step: python -m tests.e2e.signalled STEP SIGNAL fit ..."""

from __future__ import annotations

import os
import sys

from gantrain.cli.main import main
from gantrain.rundir.metrics import MetricsLog


def send_at(step: int, number: int) -> None:
    """Send the signal right after the metrics of `step` were written, before the checkpoint of that step."""
    append = MetricsLog.append

    def append_and_send(self: MetricsLog, record) -> None:
        append(self, record)
        if record["step"] == step and "loss/generator" in record:  # health has a line of its own
            os.kill(os.getpid(), number)

    MetricsLog.append = append_and_send


if __name__ == "__main__":
    send_at(int(sys.argv[1]), int(sys.argv[2]))
    main(sys.argv[3:])
