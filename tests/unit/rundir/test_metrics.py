"""metrics.jsonl and log.txt: exact numbers, and no damage from a crash at any byte."""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gantrain.errors import RunError
from gantrain.rundir.metrics import LogFile, MetricsLog


def _log_of_steps(path: Path, count: int) -> MetricsLog:
    log = MetricsLog(path)
    for step in range(count):
        log.append({"step": step, "loss/generator": 0.1 * step, "note": "é"})
    return log


def test_keys_keep_their_order_and_lines_are_json(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / "m.jsonl")
    log.append({"step": 50, "b": 0.25, "a": 3, "c": "word"})
    assert log.path.read_text() == '{"step": 50, "b": 0.25, "a": 3, "c": "word"}\n'


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_comes_back_with_the_same_bits(tmp_path_factory: pytest.TempPathFactory, value: float) -> None:
    log = MetricsLog(tmp_path_factory.mktemp("m") / "m.jsonl")
    log.append({"step": 0, "x": value})
    (record,) = log.read()
    assert struct.pack("d", record["x"]) == struct.pack("d", value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_cannot_say_is_null(tmp_path: Path, value: float) -> None:
    log = MetricsLog(tmp_path / "m.jsonl")
    log.append({"step": 1, "x": value})
    assert log.path.read_text() == '{"step": 1, "x": null}\n'


def test_cut_back_keeps_records_up_to_the_step_byte_for_byte(tmp_path: Path) -> None:
    log = _log_of_steps(tmp_path / "m.jsonl", 6)
    before = log.path.read_bytes().splitlines(keepends=True)
    assert log.cut_back(3) == (4, 2, 0)
    assert log.path.read_bytes() == b"".join(before[:4])


def test_cut_back_with_nothing_to_cut_does_not_touch_the_file(tmp_path: Path) -> None:
    log = _log_of_steps(tmp_path / "m.jsonl", 3)
    inode = log.path.stat().st_ino
    assert log.cut_back(2) == (3, 0, 0)
    assert log.path.stat().st_ino == inode
    assert MetricsLog(tmp_path / "missing.jsonl").cut_back(5) == (0, 0, 0)


def test_a_file_torn_at_any_byte_keeps_its_whole_lines_and_grows_on(tmp_path: Path) -> None:
    whole = _log_of_steps(tmp_path / "whole.jsonl", 3).path.read_bytes()
    for size in range(len(whole) + 1):
        log = MetricsLog(tmp_path / "torn.jsonl")
        log.path.write_bytes(whole[:size])
        complete = whole[:size].count(b"\n")
        assert [record["step"] for record in log.read()] == list(range(complete))
        assert log.cut_back(10) == (complete, 0, int(not whole[:size].endswith(b"\n") and size > 0))
        log.append({"step": 9})
        assert [record["step"] for record in log.read()] == [*range(complete), 9]


def test_damaged_lines_in_the_middle_are_counted_and_dropped(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / "m.jsonl")
    log.path.write_bytes(b'{"step": 1}\n\0\0\0\n[1]\n{"no": 1}\n\xff\n{"step": 2}\n{"step": 3}\n')
    assert log.cut_back(2) == (2, 1, 4)
    assert log.path.read_bytes() == b'{"step": 1}\n{"step": 2}\n'


def test_a_directory_in_the_place_of_the_file_is_a_run_error(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="a directory is in the place of a file"):
        MetricsLog(tmp_path).append({"step": 1})


def test_log_lines_carry_the_time_in_utc(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "log.txt")
    log.line("one\ntwo")
    log.line("")
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    assert re.fullmatch(rf"{time} one\n{time} two\n{time} \n", log.path.read_text())
