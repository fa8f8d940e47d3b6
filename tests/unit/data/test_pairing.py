"""Targets and sequences: from npz and csv, into batches, into the fingerprint, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gantrain import registry
from gantrain.data.catalog import Arrays, WindowTeacher
from gantrain.data.file_settings import Csv
from gantrain.data.order import Order
from gantrain.data.packing import write
from gantrain.data.pairing import longest_run
from gantrain.data.pipeline import batches
from gantrain.data.transforms import RangeTransform
from gantrain.errors import DataError, UsageError
from gantrain.spec.history import HistoryData
from gantrain.spec.model import Data

INPUTS = np.arange(20, dtype=np.float32).reshape(10, 2)
TARGETS = np.arange(10) / 4
IDS = np.array(["b", "b", "b", "a", "a", "c", "c", "c", "c", "a"])
KEYS = {"path": "x.npz", "key": "inputs", "targets_key": "targets"}


def npz(folder: Path, **arrays) -> Path:
    np.savez(folder / "x.npz", **{"inputs": INPUTS, "targets": TARGETS, "ids": IDS, **arrays})
    return folder


def test_an_npz_gives_inputs_targets_and_sequences(tmp_path: Path):
    settings = Arrays(**KEYS, sequence_key="ids")
    source = registry.build(settings, npz(tmp_path))
    assert (source.load(np.arange(10)) == INPUTS).all()
    assert (source.pairing.targets == TARGETS[:, None]).all()
    assert source.pairing.sequences.tolist() == [1, 1, 1, 0, 0, 2, 2, 2, 2, 0]
    facts = settings.peek(tmp_path)
    assert (facts.target_size, facts.longest_sequence) == (1, 4)
    assert registry.build(Arrays(**KEYS), tmp_path).pairing.longest == 10


def test_the_array_of_inputs_need_not_be_named_when_the_others_are(tmp_path: Path):
    source = registry.build(Arrays(path="x.npz", targets_key="targets", sequence_key="ids"), npz(tmp_path))
    assert source.shape == (2,)


def test_a_table_gives_targets_as_they_are_and_sequences_by_name(tmp_path: Path):
    rows = [f"{number},{2 * number},{number / 4},{name}" for number, name in enumerate(IDS)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y,who", *rows]))
    settings = Csv(path="t.csv", targets=("y",), sequence="who")
    source = registry.build(settings, tmp_path)
    assert source.shape == (2,)
    assert source.in_memory.std() == pytest.approx(1, abs=1e-6)
    assert (source.pairing.targets == TARGETS[:, None]).all()
    assert source.pairing.sequences.tolist() == [1, 1, 1, 0, 0, 2, 2, 2, 2, 0]
    assert [column.name for column in source.table.columns] == ["a", "b"]
    assert (settings.peek(tmp_path).target_size, settings.peek(tmp_path).longest_sequence) == (1, 4)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"targets": TARGETS[:9]}, r"'targets'.*float64 \(9,\); wanted are numbers, \(10,\) or \(10, T\)"),
        ({"targets": np.array(["x"] * 10)}, "wanted are numbers"),
        ({"targets": np.where(np.arange(10) == 7, np.nan, 1)}, "NaN.* in 1 examples, first in example 7"),
        ({"targets": np.full(10, 1e300)}, "too large for float32 in 10 examples"),
        ({"targets": np.array([{}] * 10)}, "holds Python objects"),
        ({"ids": IDS[:4]}, r"'ids'.*\(4,\); the sequences of examples are whole numbers or text, \(10,\)"),
        ({"ids": TARGETS}, "whole numbers or text"),
    ],
)
def test_targets_and_ids_that_do_not_fit_are_refused_by_name(arrays, message, tmp_path: Path):
    with pytest.raises(DataError, match=message):
        registry.build(Arrays(**KEYS, sequence_key="ids"), npz(tmp_path, **arrays))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"targets": ("who",)}, "column 'who' holds text where numbers are wanted"),
        ({"targets": ("y",), "columns": ("a", "y")}, "column 'y'.*each may be named once"),
        ({"targets": ("z",)}, "has no column 'z'"),
        ({"targets": ("a", "b", "y"), "sequence": "who"}, "no column is left"),
    ],
)
def test_columns_that_cannot_be_targets_are_refused(settings, message, tmp_path: Path):
    (tmp_path / "t.csv").write_text("a,b,y,who\n1,2,3,x\n4,5,6,y\n")
    with pytest.raises(DataError, match=message):
        registry.build(Csv(path="t.csv", **settings), tmp_path)


def test_ids_without_targets_are_refused():
    for settings in (lambda: Arrays(path="x", sequence_key="ids"), lambda: Csv(path="x", sequence="who")):
        with pytest.raises(ValueError, match="goes with targets"):
            settings()


def test_targets_and_sequences_are_part_of_the_fingerprint(tmp_path: Path):
    settings = Arrays(**KEYS, sequence_key="ids")
    prints = {
        registry.build(settings, npz(tmp_path)).fingerprint(),
        registry.build(settings, npz(tmp_path, targets=TARGETS + 1)).fingerprint(),
        registry.build(settings, npz(tmp_path, ids=IDS[::-1])).fingerprint(),
        registry.build(Arrays(path="x.npz", key="inputs"), tmp_path).fingerprint(),
    }
    assert len(prints) == 4


def test_a_pack_would_lose_the_targets_and_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="targets"):
        write(registry.build(Arrays(**KEYS), npz(tmp_path)), {}, tmp_path / "x.pack")


def read(source, data, first, count):
    found = iter(batches(source, data, Order(3), first, False, RangeTransform(None, None)))
    return [{key: value.numpy() for key, value in next(found).items()} for _ in range(count)]


@pytest.mark.parametrize("epoch_end", ["continue", "partial", "drop"])
def test_sequential_batches_come_in_order_with_their_targets_from_any_batch_on(epoch_end, tmp_path: Path):
    source = registry.build(Arrays(**KEYS, sequence_key="ids"), npz(tmp_path))
    settings = Arrays(**KEYS)
    data = HistoryData(source=settings, order="sequential", batch_size=4, epoch_end=epoch_end)
    found = read(source, data, 0, 5)
    epoch = {"continue": [*range(10), *range(10)], "partial": [*range(10), *range(8)], "drop": [*range(8)] * 2 + [0, 1, 2, 3]}
    index = np.concatenate([batch["real"][:, 0] / 2 for batch in found]).astype(int)
    assert index.tolist() == epoch[epoch_end][: len(index)]
    assert (np.concatenate([batch["targets"] for batch in found])[:, 0] == TARGETS[index]).all()
    assert (np.concatenate([batch["sequence"] for batch in found]) == source.pairing.sequences[index]).all()
    for first, later in zip(found[2:], read(source, data, 2, 3), strict=True):
        assert all((first[key] == later[key]).all() for key in first)


def test_shuffled_batches_keep_each_target_with_its_example(tmp_path: Path):
    source = registry.build(Arrays(**KEYS), npz(tmp_path))
    (batch,) = read(source, HistoryData(source=Arrays(**KEYS), order="shuffled", batch_size=10), 0, 1)
    index = (batch["real"][:, 0] / 2).astype(int)
    assert sorted(index) == list(range(10))
    assert index.tolist() != list(range(10))
    assert (batch["targets"][:, 0] == TARGETS[index]).all()


def test_other_tasks_shuffle_and_data_that_knows_no_order_is_never_sequential():
    assert not Data(source=WindowTeacher()).sequential
    with pytest.raises(ValueError, match="order"):
        HistoryData(source=WindowTeacher())
    with pytest.raises(ValueError, match="no meaning"):
        HistoryData(source=WindowTeacher(), order="sequential", shuffle_buffer=1000)


@pytest.mark.parametrize(("ids", "longest"), [([0], 1), ([0, 0, 1, 1, 1, 0], 3), ([0, 1, 0, 1], 1), ([5, 5, 5], 3)])
def test_the_longest_run_of_a_sequence_is_counted(ids, longest):
    assert longest_run(np.array(ids)) == longest


@pytest.mark.parametrize(("size", "sequences"), [(10, 1), (10, 3), (7, 7)])
def test_the_teachers_targets_are_norms_of_its_last_outputs_within_a_sequence(size, sequences):
    settings = WindowTeacher(inputs=3, outputs=2, length=3, size=size, sequences=sequences, seed=5)
    source = registry.build(settings, Path())
    random = np.random.Generator(np.random.Philox(key=5))
    weights = random.standard_normal((3, 2)) / np.sqrt(3)
    outputs = np.maximum(source.in_memory.astype(np.float64) @ weights, 0)
    part = np.arange(size) * sequences // size
    for index in range(size):
        window = [outputs[k] for k in range(max(0, index - 2), index + 1) if part[k] == part[index]]
        assert source.pairing.targets[index, 0] == pytest.approx(np.linalg.norm(window), abs=1e-6)
    assert settings.peek(Path()).longest_sequence == (source.pairing.longest if sequences > 1 else size)
