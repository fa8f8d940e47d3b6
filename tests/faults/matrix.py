"""Moments at which a run is stopped, and the proof that the same command then ends where an uninterrupted run does.

Commands run in forks of one process that has imported TensorFlow but not used it: a run costs two seconds instead of six.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.e2e.command import write_config
from tests.faults import crashing
from tests.faults.crashing import RUN_MARK

REFUSALS = ("ENOSPC", "EDQUOT", "EROFS", "EACCES", "EIO")
TIMINGS = ("images_per_sec", "input_wait_share")
SPEC = {
    "data.batch_size": 32,
    "training.steps": 24,
    "training.ema": {"half_life_images": 500},
    "output": {"log_every": 2, "sample_every": 4, "checkpoint_every": 3, "keep_last": 2, "sample_count": 4},
}


class Moment(NamedTuple):
    """What happens to a run: a `fault` of tests.faults.crashing, or `signals` sent `after` seconds."""

    fault: str
    signals: tuple[int, ...] = ()
    after: float = 0.0

    def __str__(self) -> str:
        if not self.signals:
            return self.fault
        return f"{' and '.join(signal.Signals(number).name for number in self.signals)} after {self.after:.2f} s"

    @property
    def codes(self) -> tuple[int, ...]:
        """Exit codes that it may end with; negative: by a signal. What comes after the end is none."""
        kind = self.fault.split(":")[0]
        if kind == "none":
            return (0, *(code for number in self.signals for code in (-number, 128 + number)))
        return {"kill": (0, -signal.SIGKILL), "refuse": (0, 5)}.get(kind, (0,))


@dataclass(frozen=True)
class Reference:
    """A run that was left alone."""

    folder: Path
    config: Path
    run: Path
    operations: int
    seconds: float

    @classmethod
    def make(cls, folder: Path) -> Reference:
        """Train it, and count its changes of files."""
        config = write_config(folder / "tiny.yaml", SPEC)
        run = folder / "reference" / RUN_MARK
        run.parent.mkdir()
        started = time.monotonic()
        code, said = start("none", config, run).finish()
        assert code == 0, said
        count = int(said.rpartition("file operations: ")[2].split()[0])
        return cls(folder, config, run, count, time.monotonic() - started)


class Child:
    """A command in a fork of this process. Import TensorFlow before, but do not use it: its threads would be missing here."""

    def __init__(self, arguments: list[str], log: Path) -> None:
        self._log = log
        self.code: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            _become(arguments, log)

    def finish(self) -> tuple[int, str]:
        """Exit code (negative: a signal) and what was said."""
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code, self._log.read_text()

    def send(self, number: int) -> None:
        """A signal, if it still runs."""
        if self.code is None and os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            os.kill(self.pid, number)


def _become(arguments: list[str], log: Path) -> None:
    """In the child: the command and nothing else, whatever happens."""
    code = 1
    try:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        sys.argv = ["crashing", *arguments]
        crashing.main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def start(fault: str, config: Path, run: Path) -> Child:
    """`gantrain fit` under a fault."""
    return Child([fault, "fit", str(config), "--run-dir", str(run)], run.parent / "said.txt")


def draw(seed: int, count: int, reference: Reference) -> Iterator[Moment]:
    """Moments; of five two at file operations, one SIGKILL, one gentler signals, one a system that refuses, is slow or jumps."""
    random_numbers = random.Random(seed)
    for index in range(count):
        after, operation = random_numbers.uniform(0.05, reference.seconds), random_numbers.randint(1, reference.operations)
        first, second = random_numbers.choices((signal.SIGTERM, signal.SIGINT), k=2)
        refusal = f"refuse:{random_numbers.choice(REFUSALS)}:{operation}"
        yield (
            Moment(f"kill:{operation}"),
            Moment("none", (signal.SIGKILL,), after),
            Moment(f"kill:{operation}"),
            Moment("none", (first, second) if index % 10 == 8 else (first,), after),
            Moment({14: "slow:0.02", 19: f"clock:{index}"}.get(index % 20, refusal)),
        )[index % 5]


def try_moment(reference: Reference, moment: Moment) -> str | None:
    """Stop a run at the moment and go on with it; what differs in the end, or None."""
    run = reference.folder / "tried" / RUN_MARK
    shutil.rmtree(run.parent, ignore_errors=True)
    run.parent.mkdir()
    child = start(moment.fault, reference.config, run)
    if moment.signals:
        time.sleep(moment.after)
        for number in moment.signals:
            child.send(number)
            time.sleep(0.02)
    code, said = child.finish()
    if "Traceback" in said or code not in moment.codes or (code == 5 and said.count("error: ") != 1):
        return f"stopped with {code}: {said[-2000:]}"
    code, said = start("none", reference.config, run).finish()
    if code != 0 or "Traceback" in said:
        return f"the same command ended with {code}: {said[-2000:]}"
    return difference(reference.run, run)


def difference(run: Path, other: Path) -> str | None:
    """The first thing in which two finished runs differ, timings aside."""
    if _metrics(run) != _metrics(other):
        return "the metrics differ"
    if _files(run, "samples") != _files(other, "samples"):
        return "the names of pictures differ"
    states, others = _files(run, "checkpoints"), _files(other, "checkpoints")
    if states != others:
        return f"the names of checkpoints differ: {sorted(map(str, states ^ others))}"
    left = [path.name for path in other.rglob(".*") if path.name not in (".lock", ".proofs.jsonl")]
    if left:
        return f"left behind: {left}"
    same = states | _files(run, "samples")
    return next((f"{file} differs" for file in sorted(same) if (run / file).read_bytes() != (other / file).read_bytes()), None)


def _files(run: Path, part: str) -> set[Path]:
    """Pictures, or tensors of checkpoints."""
    found = {path.relative_to(run) for path in (run / part).rglob("*") if path.is_file()}
    return {path for path in found if path.name not in ("spec.resolved.yaml", "manifest.json")}


def _metrics(run: Path) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in TIMINGS} for line in lines]
