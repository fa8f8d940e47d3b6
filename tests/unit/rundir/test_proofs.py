"""What a run wrote is proven: damage is found, a crash is none."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from gantrain.errors import RunError
from gantrain.rundir.files import write_atomically
from gantrain.rundir.metrics import MetricsLog
from gantrain.rundir.proofs import Proof, Proofs, _check


def grown(run: Path, *steps: int) -> Proofs:
    """A run that wrote a line of metrics and a checkpoint at each of `steps`."""
    proofs = Proofs(run)
    proofs.note({"spec.yaml": "name: x\n"})
    write_atomically(run / "spec.yaml", "name: x\n")
    for step in steps:
        MetricsLog(run / "metrics.jsonl").append({"step": step, "loss": step / 7})
        proofs.checkpointed(step, [])
    return proofs


def test_a_run_as_it_was_written_has_no_findings(tmp_path):
    assert grown(tmp_path, 1, 2).judge() == {}
    MetricsLog(tmp_path / "metrics.jsonl").append({"step": 3})  # after the last checkpoint
    assert Proofs(tmp_path).judge() == {}


def test_a_crash_between_a_proof_and_its_file_is_no_damage_in_either_state(tmp_path):
    proofs = grown(tmp_path)
    proofs.note({"spec.yaml": "name: y\n"})
    assert proofs.judge() == {}
    write_atomically(tmp_path / "spec.yaml", "name: y\n")
    assert proofs.judge() == {}
    assert proofs.accepts("spec.yaml")
    write_atomically(tmp_path / "spec.yaml", "name: z\n")
    assert list(proofs.judge()) == [tmp_path / "spec.yaml"]
    assert proofs.accepts("spec.yaml") is False
    assert proofs.accepts("unknown") is None


def test_every_changed_or_missing_byte_of_proven_metrics_is_found(tmp_path):
    proofs, path = grown(tmp_path, 1, 2), tmp_path / "metrics.jsonl"
    whole = path.read_bytes()
    for index in range(len(whole)):
        for data in (whole[:index] + bytes([whole[index] ^ 1]) + whole[index + 1 :], whole[:index]):
            path.write_bytes(data)
            assert str(path) in proofs.judge()[path]


def test_metrics_that_are_cut_back_and_written_again_are_not_judged_by_what_they_were(tmp_path):
    proofs = grown(tmp_path, 1, 2, 3)
    assert proofs.cut_back(1).later == 2
    assert proofs.judge() == {}
    MetricsLog(tmp_path / "metrics.jsonl").append({"step": 2, "loss": 0.5})
    proofs.checkpointed(2, [])
    assert Proofs(tmp_path).judge() == {}
    assert [record["step"] for record in MetricsLog(tmp_path / "metrics.jsonl").read()] == [1, 2]


def test_starting_anew_keeps_what_counts_and_only_that(tmp_path):
    proofs = grown(tmp_path, 1, 2)
    for number in range(9):
        proofs.note({"spec.yaml": f"name: {number}\n"})
        write_atomically(tmp_path / "spec.yaml", f"name: {number}\n")
    proofs.start_anew()
    assert len((tmp_path / ".proofs.jsonl").read_bytes().splitlines()) == 4  # two texts, two steps
    assert proofs.judge() == {}


@pytest.mark.parametrize("size", [0, 5, -5])
def test_damaged_proofs_are_named_and_do_not_stop_the_run(tmp_path, size):
    proofs = grown(tmp_path, 1)
    proofs.path.write_bytes(proofs.path.read_bytes()[:size])
    assert str(proofs.path) in proofs.judge()[proofs.path]
    proofs.note({"spec.yaml": "name: x\n"})
    proofs.start_anew()
    assert Proofs(tmp_path).judge() == {}


def test_a_missing_file_is_named(tmp_path):
    proofs = grown(tmp_path, 1)
    (tmp_path / "spec.yaml").unlink()
    proofs.path.rename(tmp_path / "elsewhere")
    with pytest.raises(RunError, match=r"\.proofs\.jsonl: it does not exist"):
        proofs.read()
    (tmp_path / "elsewhere").rename(proofs.path)
    assert "it does not exist" in proofs.judge()[tmp_path / "spec.yaml"]


def test_proving_a_long_run_takes_the_same_time_at_its_end(tmp_path):
    proofs, log = Proofs(tmp_path), MetricsLog(tmp_path / "metrics.jsonl")
    parts = []
    for part in range(4):
        started = time.perf_counter()
        for step in range(part * 150, part * 150 + 150):
            log.append({"step": step, "text": "x" * 2000})
            proofs.checkpointed(step, [])
        parts.append(time.perf_counter() - started)
    assert min(parts[2:]) < 2 * max(parts[:2])  # hashing all of it each time would make the last part several times the first


def test_lines_that_came_after_a_checkpoint_are_cut_whatever_their_steps_say(tmp_path):
    proofs, log = Proofs(tmp_path), MetricsLog(tmp_path / "metrics.jsonl")
    for step in (1, 2):
        log.append({"step": step})
    proofs.checkpointed(2, [])
    whole = log.path.read_bytes()
    log.path.write_bytes(whole * 2 + b'{"step": -1}\n{"step": true}\n')
    assert proofs.cut_back(2).damaged == 1
    assert log.path.read_bytes() == whole
    log.path.write_bytes(whole.replace(b"1", b"0") + b'{"step": 3}\n')  # not as proven: by their steps
    assert proofs.cut_back(2).later == 1
    assert log.read() == [{"step": 0}, {"step": 2}]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/dev/zero", "a\x00b", "", "a/../b", ".lock"])
def test_a_proof_names_a_file_of_the_run_or_is_damaged(tmp_path, name):
    tree = {"file": name, "bytes": 1, "sha256": "0"}
    (tmp_path / ".proofs.jsonl").write_text(json.dumps({**tree, "check": _check(tree)}) + "\n")
    assert list(Proofs(tmp_path).judge()) == [tmp_path / ".proofs.jsonl"]


def test_a_proof_of_more_bytes_than_any_memory_holds_reads_nothing(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n')
    (tmp_path / ".proofs.jsonl").write_text(Proof(file="metrics.jsonl", bytes=10**18, sha256="", step=1).line() + "\n")
    found = Proofs(tmp_path).judge()
    assert "it has 12 bytes, 1000000000000000000 were written" in found[tmp_path / "metrics.jsonl"]
