"""Pipes, devices and what is larger than the memory are refused before they are read."""

from __future__ import annotations

import gzip
import os
import struct

import numpy as np
import pytest

from gantrain import machine
from gantrain.data import csv_text, headers, idx, opening
from gantrain.data.file_settings import Idx
from gantrain.errors import DataError, UsageError
from gantrain.plugins import load
from gantrain.spec import loading


@pytest.mark.parametrize("name", ["x.npy", "x.png", "x.csv"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_named_and_never_waited_for(tmp_path, name, kind):
    path = tmp_path / name
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    read = {"x.npy": lambda: headers.read(path, None), "x.png": lambda: opening.read(path), "x.csv": lambda: csv_text.read(path)}
    with pytest.raises(DataError, match=f"{path}.* is no file but a (folder, a )?pipe"):
        read[name]()


def test_arrays_and_tables_that_fill_the_memory_are_refused_with_a_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "free_bytes", lambda: 1000)
    np.savez(tmp_path / "x.npz", x=np.zeros((200, 8), np.float32))
    with pytest.raises(DataError, match=r"x.npz takes .* memory, .* are free; save it with numpy.save"):
        headers.load(headers.read(tmp_path / "x.npz", None))
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n" * 100)
    with pytest.raises(DataError, match=r"table .*x.csv takes"):
        csv_text.read(tmp_path / "x.csv")
    assert len(csv_text.read(tmp_path / "x.csv", most_rows=3).columns) == 2  # a look at the beginning takes none
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"\0\0\x08\x03" + struct.pack(">3i", 100, 8, 8) + bytes(6400)))
    with pytest.raises(DataError, match=r"idx file .*x.gz takes"):
        idx.build(Idx(path="x.gz"), tmp_path)


def test_a_table_of_one_endless_line_is_no_table(tmp_path):
    with (tmp_path / "x.csv").open("wb") as file:
        file.truncate(8 * 2**30)  # sparse
    with pytest.raises(DataError, match="has a line of more than"):
        csv_text.read(tmp_path / "x.csv", most_rows=3)


def test_a_pipe_that_says_nothing_is_no_config_and_no_plugin_and_one_that_speaks_is(tmp_path, monkeypatch):
    path = tmp_path / "c.yaml"
    os.mkfifo(path)
    monkeypatch.setattr(loading, "PIPE_SEC", 0.1)
    with pytest.raises(UsageError, match=f"nothing more came through the pipe {path}"):
        loading.read_text(path)
    with pytest.raises(UsageError, match="it is no file but a pipe or a device"):
        load([str(path.rename(tmp_path / "p.py"))], tmp_path, True)
    reader, writer = os.pipe()
    os.write(writer, b"name: x\n")
    os.close(writer)
    assert loading.read_text(loading.Path(f"/dev/fd/{reader}")) == "name: x\n"
    os.close(reader)
