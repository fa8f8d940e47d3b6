"""The processes of a benchmark: each trains in its turn and waits meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

START_LIMIT_SEC = 300.0
ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """A rival: told how many seconds to train, it answers with what it did."""

    def __init__(self, command: list[str]) -> None:
        started = time.perf_counter()
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, stderr=subprocess.DEVNULL
        )
        self._answer()
        self.first_step_sec = time.perf_counter() - started
        self.peak_mib = 0.0

    def turn(self, seconds: float) -> float:
        """Images per second of about that many seconds."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seconds}\n")
        self._process.stdin.flush()
        answer = self._answer()
        self.peak_mib = answer["peak_mib"]
        return answer["images"] / answer["seconds"]

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def _answer(self) -> dict:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(map(str, self._process.args))} ended; run it by hand to see why")  # type: ignore[arg-type]
        return json.loads(line)


class CommandLine:
    """`gantrain fit` with everything that is on by default; halted between its turns. Lines of its metrics tell how far it is."""

    def __init__(self, workload: str, precision: str, folder: Path) -> None:
        sys.path.insert(0, str(Path(__file__).parent))
        import _specs
        from _worker import WORKLOADS

        self._batch = WORKLOADS[workload].batch
        self.peak_mib, run = 0.0, folder / "run"
        config = _specs.write(workload, precision, folder, log_every={"W1": 20, "W2": 4}.get(workload, 1))
        started = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gantrain", "fit", str(config), "--run-dir", str(run), "--quiet", "--device", "cpu"],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT,
        )  # fmt: skip
        self._metrics = run / "metrics.jsonl"
        self._wait_for_a_line(-1)
        self.first_step_sec = time.perf_counter() - started
        self._process.send_signal(signal.SIGSTOP)

    def turn(self, seconds: float) -> float:
        """Images per second between the first and the last line of metrics within about that many seconds."""
        self._process.send_signal(signal.SIGCONT)
        first, started = self._wait_for_a_line(self._step()), self._written_sec()
        time.sleep(seconds)  # no look at the file meanwhile: it would take time from the run
        last = self._wait_for_a_line(first)
        ended = self._written_sec()
        self._process.send_signal(signal.SIGSTOP)
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        self.peak_mib = int(status.split("VmHWM:")[1].split()[0]) / 1024
        return (last - first) * self._batch / (ended - started)

    def _written_sec(self) -> float:
        """When the newest line was written."""
        return self._metrics.stat().st_mtime_ns / 1e9

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def _wait_for_a_line(self, step: int) -> int:
        """The step of the newest line, once it is beyond `step`."""
        limit = time.perf_counter() + START_LIMIT_SEC
        while time.perf_counter() < limit and self._process.poll() is None:
            found = self._step()
            if found > step:
                return found
            time.sleep(0.005)
        raise RuntimeError("gantrain fit wrote no line of metrics; run it by hand to see why")

    def _step(self) -> int:
        lines = self._metrics.read_text().splitlines() if self._metrics.exists() else []
        steps = [json.loads(line)["step"] for line in lines[-3:] if line.endswith("}")]
        return max(steps, default=-1)
