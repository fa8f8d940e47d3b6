"""What may change when a run goes on."""

from __future__ import annotations

import pytest

from gantrain import drift
from gantrain.errors import RunError
from gantrain.manifest import DataFacts
from gantrain.rundir.record import RunRecord, Versions
from gantrain.spec.model import to_tree
from gantrain.spec.trees import dump_yaml
from tests.helpers import tiny_spec

VERSIONS = Versions(gantrain="0.1.0", tensorflow="2.21.0", keras="3.15.1", numpy="2.4.6", python="3.11.7")
RECORD = RunRecord(name="x", spec_hash="abc", versions=VERSIONS, device="cpu", data_fingerprint="f00")
DATA = DataFacts(shape=(2,), dtype="float32", source_range=None, network_range=None, fingerprint="f00")


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "spec.resolved.yaml"
    path.write_text(dump_yaml(to_tree(tiny_spec())))
    return path


@pytest.mark.parametrize("name", ["gantrain", "tensorflow", "keras", "numpy"])
def test_other_versions_of_what_computes_are_warned_of(name):
    now = VERSIONS.model_copy(update={name: "9"})
    [warning] = drift.changes_of_versions(RECORD, now, "cpu")
    assert f"{name} {getattr(VERSIONS, name)} -> 9" in warning
    assert "numbers may differ" in warning


def test_another_device_is_warned_of_and_another_python_is_safe():
    assert "device cpu -> gpu" in drift.changes_of_versions(RECORD, VERSIONS, "gpu")[0]
    assert drift.changes_of_versions(RECORD, VERSIONS.model_copy(update={"python": "3.13.1"}), "cpu") == []
    assert drift.changes_of_versions(None, VERSIONS, "cpu") == []


def test_other_data_is_refused_with_what_would_break(tmp_path):
    drift.check_data(RECORD, DATA, tmp_path)
    drift.check_data(None, DATA, tmp_path)
    with pytest.raises(RunError, match="examples would come in another order"):
        drift.check_data(RECORD, DATA.model_copy(update={"fingerprint": "other"}), tmp_path)


@pytest.mark.parametrize("changes", [{"training.precision": "mixed_bfloat16"}, {"seed": 8}, {"generator.units": [9]}])
def test_a_setting_that_decides_numbers_is_refused_by_its_key(written, tmp_path, changes):
    key = next(iter(changes))
    with pytest.raises(RunError, match=key):
        drift.check_spec(written, to_tree(tiny_spec(changes)), tmp_path)


def test_a_longer_run_and_another_output_are_the_same_spec(written, tmp_path):
    drift.check_spec(written, to_tree(tiny_spec({"training.steps": 99, "output": {"keep_last": 1}, "name": "other"})), tmp_path)


def test_a_setting_that_is_newer_than_the_run_counts_with_its_default(written, tmp_path):
    text = written.read_text().replace("  accumulate: 1\n", "")
    assert text != written.read_text()
    written.write_text(text)
    drift.check_spec(written, to_tree(tiny_spec()), tmp_path)
    with pytest.raises(RunError, match="accumulate: 1 there, 2 now"):
        drift.check_spec(written, to_tree(tiny_spec({"training.accumulate": 2})), tmp_path)


def test_a_truncated_spec_is_damage_not_another_spec(written, tmp_path):
    written.write_text('seed: "')
    with pytest.raises(RunError, match=f"{written} is damaged"):
        drift.check_spec(written, to_tree(tiny_spec()), tmp_path)
