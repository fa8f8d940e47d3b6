"""`run.json`: what a run is, with which versions it was made, how it stands, and every start it had."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from gantrain.errors import RunError
from gantrain.rundir.files import read_bounded, write_atomically

_MAX_BYTES = 64_000_000
Status = Literal["running", "finished", "interrupted", "failed", "diverged"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Versions(_Part):
    """Versions of what computes the numbers."""

    gantrain: str
    tensorflow: str
    keras: str
    numpy: str
    python: str


class Start(_Part):
    """One start of the command on this run."""

    time: str  # UTC, ISO 8601
    pid: int
    host: str
    resumed_from_step: int | None  # None: from the beginning
    versions: Versions
    device: str | None = None  # None: a start before this was noted


class RunRecord(_Part):
    """Contents of `run.json`. Keys are stable: tools of users read them."""

    format: Literal[1] = 1
    name: str
    spec_hash: str  # of the settings that determine the numbers
    versions: Versions  # of the latest start
    device: str
    data_fingerprint: str | None = None
    skipped_files: int = 0  # unreadable files that the data source left out (on_bad_file: skip)
    status: Status = "running"
    exit_reason: str | None = None  # None while running
    starts: tuple[Start, ...] = ()

    def started(self, start: Start) -> RunRecord:
        """The record after one more start."""
        changes = {"starts": (*self.starts, start), "versions": start.versions, "status": "running", "exit_reason": None}
        return self.model_copy(update=changes)

    def ended(self, status: Status, exit_reason: str) -> RunRecord:
        """The record after the command ended."""
        return self.model_copy(update={"status": status, "exit_reason": exit_reason})

    def save(self, path: Path) -> None:
        """Write `run.json`. Raises RunError."""
        write_atomically(path, self.text())

    def text(self) -> str:
        """Contents of the file."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def load(cls, path: Path) -> RunRecord:
        """Read `run.json`. Raises RunError that names the file if it is missing, damaged or of another format."""
        text = read_bounded(path, _MAX_BYTES)
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise RunError(
                f"{path} is damaged or of another gantrain version ({place + ': ' if place else ''}{first['msg']}); "
                "restore it from a copy, or start a new run"
            ) from error
