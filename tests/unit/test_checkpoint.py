"""Checkpoints: whole or not there, proven, restored exactly or refused."""

from __future__ import annotations

import itertools
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from gantrain import checkpoint, stored
from gantrain.errors import RunError
from gantrain.manifest import DataFacts
from tests.helpers import snapshot

FACTS = DataFacts(
    shape=(8, 8, 1), dtype="uint8", source_range=(0, 255), network_range=(-1, 1), class_names=("a", "b"), fingerprint="f" * 64
)
FILES = ("state.index", "state.data-00000-of-00001", "spec.resolved.yaml", "manifest.json")


def variables():
    return {
        "generator/out/kernel": tf.Variable([[0.1, -2.5e-38], [np.nan, np.inf]]),
        "generator/out/bias": tf.Variable([1.0, 2.0]),
        "progress/step": tf.Variable(2**40, dtype=tf.int64),
        "progress/sums": tf.Variable([0.1], dtype=tf.float64),
        "discriminator/flag": tf.Variable(True),
        "discriminator/half": tf.Variable([1.5], dtype=tf.bfloat16),
    }


def zeroed():
    return {key: tf.Variable(tf.zeros_like(value)) for key, value in variables().items()}


def saved(folder, step=9, state=None):
    folder.mkdir(exist_ok=True)
    return checkpoint.save(folder, step, state or variables(), "name: x\n", FACTS)


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


DAMAGES = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "flipped": flip,
    "deleted": Path.unlink,
    "emptied": lambda path: path.write_bytes(b""),
    "appended": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "a_folder": lambda path: (path.unlink(), path.mkdir()),
}


def test_what_is_saved_is_restored_to_the_byte(tmp_path):
    path = saved(tmp_path)
    target = zeroed()
    checkpoint.restore(path, target)
    assert snapshot(target) == snapshot(variables())
    assert path.name == "step-00000009"
    assert {item.name for item in path.iterdir()} == set(FILES)
    assert [item.name for item in tmp_path.iterdir()] == [path.name]
    manifest = stored.verify(path)
    assert (manifest.step, manifest.data) == (9, FACTS)
    assert set(manifest.files) == set(FILES) - {"manifest.json"}


def test_a_part_is_restored_by_its_role(tmp_path):
    path = saved(tmp_path)
    part = {key: value for key, value in zeroed().items() if key.startswith("generator/")}
    checkpoint.restore_part(path, part, "generator")
    assert snapshot(part) == {key: value for key, value in snapshot(variables()).items() if key.startswith("generator/")}


def without_bias(state):
    del state["generator/out/bias"]


def with_more(state):
    state["generator/more"] = tf.Variable(0.0)


def other_shape(state):
    state["generator/out/bias"] = tf.Variable([[1.0, 2.0]])


def other_dtype(state):
    state["progress/step"] = tf.Variable(0, dtype=tf.int32)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_bias, "it has generator/out/bias, which the spec does not build"),
        (with_more, "it lacks generator/more"),
        (other_shape, r"generator/out/bias is \[2\] float32 there and \[1, 2\] float32 here"),
        (other_dtype, r"progress/step is \[\] int64 there and \[\] int32 here"),
    ],
)
def test_another_state_is_refused_by_name_and_nothing_is_assigned(tmp_path, change, message):
    path = saved(tmp_path)
    target = zeroed()
    change(target)
    before = snapshot(target)
    with pytest.raises(RunError, match=message) as caught:
        checkpoint.restore(path, target)
    assert str(path) in str(caught.value)
    assert snapshot(target) == before


def test_many_differences_are_cut_short_with_a_count(tmp_path):
    path = saved(tmp_path)
    with pytest.raises(RunError, match="and 1 more"):
        checkpoint.restore(path, {})


@pytest.mark.parametrize(("name", "damage"), list(itertools.product(FILES, DAMAGES)))
def test_any_damage_is_named_and_the_checkpoint_before_is_taken_with_a_warning(tmp_path, name, damage):
    saved(tmp_path, 9)
    bad = saved(tmp_path, 10)
    DAMAGES[damage](bad / name)
    with pytest.raises(RunError) as caught:
        stored.verify(bad)
    assert str(bad / name) in str(caught.value)
    warnings = []
    found = stored.latest_good(tmp_path, warnings.append)
    assert found is not None
    assert found[0].name == "step-00000009"
    assert found[1].step == 9
    assert len(warnings) == 1
    assert str(bad / name) in warnings[0]


def test_every_byte_of_the_manifest_counts(tmp_path):
    path = saved(tmp_path) / "manifest.json"
    whole = path.read_bytes()
    meaning = stored.verify(path.parent)
    for index in range(0, len(whole), 7):
        path.write_bytes(whole[:index] + bytes([whole[index] ^ 1]) + whole[index + 1 :])
        with suppress(RunError):  # never another exception, never other facts
            assert stored.verify(path.parent) == meaning


def test_all_damaged_is_an_error_and_none_at_all_is_a_fresh_start(tmp_path):
    assert stored.latest_good(tmp_path / "nowhere", pytest.fail) is None
    assert stored.latest_good(tmp_path, pytest.fail) is None
    for step in (1, 2):
        (saved(tmp_path, step) / "state.index").write_bytes(b"")
    warnings = []
    with pytest.raises(RunError, match=r"no checkpoint in .* is whole"):
        stored.latest_good(tmp_path, warnings.append)
    assert len(warnings) == 2


def test_checkpoints_are_ordered_by_number_and_strangers_are_ignored(tmp_path):
    for step in (100, 9, 10, 123456789):
        saved(tmp_path, step)
    for stranger in ("step-00000200.bak", "replaced-1-step-00000300", ".step-00000400.gantrain-tmp.h.1.00000000.0", "step-5"):
        (tmp_path / stranger).mkdir()
    (tmp_path / "step-00000999").write_text("a file")
    assert [step for step, _ in stored.all_checkpoints(tmp_path)] == [9, 10, 100, 123456789]


def test_the_newest_are_kept(tmp_path):
    for step in (9, 10, 100, 101):
        saved(tmp_path, step)
    stored.prune(tmp_path, 3, 101)
    assert [step for step, _ in stored.all_checkpoints(tmp_path)] == [10, 100, 101]
    stored.prune(tmp_path, 1, 101)
    assert [step for step, _ in stored.all_checkpoints(tmp_path)] == [101]


def test_what_a_gentle_stop_wrote_pushes_nothing_out_and_goes_with_the_next_one(tmp_path):
    for step in (10, 20, 30):
        saved(tmp_path, step)
    checkpoint.write(tmp_path, 34, checkpoint.snapshot(variables()), "name: x\n", FACTS, interim=True)
    assert stored.interim_steps(tmp_path) == {34}
    stored.prune(tmp_path, 2, 34, interim={34})
    assert [step for step, _ in stored.all_checkpoints(tmp_path)] == [20, 30, 34]
    saved(tmp_path, 40)
    stored.prune(tmp_path, 2, 40, interim=stored.interim_steps(tmp_path))
    assert [step for step, _ in stored.all_checkpoints(tmp_path)] == [30, 40]


def test_a_linked_checkpoint_is_forgotten_and_its_target_stays(tmp_path):
    for step in (10, 20):
        saved(tmp_path, step)
    (tmp_path / "step-00000010").rename(tmp_path / "elsewhere")
    (tmp_path / "step-00000010").symlink_to(tmp_path / "elsewhere")
    stored.prune(tmp_path, 1, 20)
    assert [step for step, _ in stored.all_checkpoints(tmp_path)] == [20]
    assert stored.verify(tmp_path / "elsewhere").step == 10
    assert not list(tmp_path.glob(".*"))


def test_a_damaged_later_checkpoint_never_pushes_out_the_good_one_just_written(tmp_path):
    saved(tmp_path, 20)
    (saved(tmp_path, 30) / "state.index").write_bytes(b"")
    saved(tmp_path, 25)  # after falling back to 20
    stored.prune(tmp_path, 1, 25)
    found = stored.latest_good(tmp_path, [].append)
    assert found is not None
    assert found[1].step == 25


def test_a_damaged_directory_of_the_same_step_is_moved_aside_and_a_whole_one_is_replaced(tmp_path):
    for number in (1, 2):
        (saved(tmp_path) / "manifest.json").write_text("{}")
        for _ in range(2):
            path = saved(tmp_path)
            assert stored.verify(path).step == 9
            asides = [f"replaced-{index}-step-00000009" for index in range(1, number + 1)]
            assert sorted(item.name for item in tmp_path.iterdir()) == [*asides, "step-00000009"]


@pytest.mark.parametrize("victim", ["facts_of", "sync_file", "_make_room"])
def test_a_write_that_fails_leaves_nothing_and_the_old_one_untouched(tmp_path, monkeypatch, victim):
    saved(tmp_path, 8)

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, victim, fail)
    with pytest.raises(RunError, match=r"cannot write the checkpoint .*step-00000009: no space left on the device"):
        saved(tmp_path, 9)
    monkeypatch.undo()
    assert [item.name for item in tmp_path.iterdir()] == ["step-00000008"]
    assert stored.verify(tmp_path / "step-00000008").step == 8


def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="step-00000009"):
        checkpoint.save(tmp_path / "file", 9, variables(), "name: x\n", FACTS)


def test_a_checkpoint_can_be_moved_and_copied(tmp_path):
    path = saved(tmp_path)
    copy = tmp_path / "elsewhere" / "my-best"
    shutil.copytree(path, copy)
    shutil.rmtree(path)
    target = zeroed()
    stored.verify(copy)
    checkpoint.restore(copy, target)
    assert snapshot(target) == snapshot(variables())
