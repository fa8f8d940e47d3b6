"""How much memory is left: of the system, or of the container."""

from __future__ import annotations

from gantrain import machine


def test_the_memory_that_is_free_is_known_here_and_no_more_than_all():
    found = machine.free_bytes()
    assert found is not None
    assert 0 < found <= machine._numbers(machine._MEMORY)["MemTotal:"] * 1024


def test_the_limit_of_a_container_counts_and_pages_of_files_do_not(tmp_path, monkeypatch):
    files = {"memory.max": "1000\n", "memory.current": "900\n", "memory.stat": "inactive_file 300\nactive_file 50\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(machine, "_GROUP", tmp_path)
    assert machine.free_bytes() == 450
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.free_bytes() != 450
