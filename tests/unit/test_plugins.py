from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

from gantrain import plugins, registry
from gantrain.approvals import approvals_file
from gantrain.errors import UsageError
from gantrain.spec.parse import load_spec
from gantrain.spec.problems import SpecError

LOSS = '''
from gantrain.interfaces import LossSettings
from gantrain.registry import register

@register("loss", "{name}")
class Mine(LossSettings):
    """{summary}"""

    margin: float = 1.0

    def build(self):
        return self.margin
'''


@pytest.fixture(autouse=True)
def _apart(tmp_path, monkeypatch):
    """Each test has its own approvals, and leaves no plugin behind."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    yield
    for module in list(plugins._loaded):
        registry.forget(module)
        del plugins._loaded[module]
        sys.modules.pop(module, None)


def _plugin(folder: Path, name="mine_loss", summary="A loss of mine.", file="mine.py") -> Path:
    path = folder / file
    path.write_text(LOSS.format(name=name, summary=summary))
    return path


def test_an_allowed_plugin_registers_its_components_and_tells_what_ran(tmp_path):
    path = _plugin(tmp_path)
    (loaded,) = plugins.load(["./mine.py"], tmp_path, allow=True)
    assert loaded.path == path
    assert loaded.code == path.read_bytes()
    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    row = registry.find("loss", "mine_loss")
    assert row is not None
    assert (row.summary, row.origin) == ("A loss of mine.", loaded.module)
    assert registry.build(row.settings(margin=2)) == 2.0


def test_an_unknown_plugin_does_not_run_and_the_refusal_shows_file_hash_and_remedy(tmp_path):
    path = _plugin(tmp_path)
    path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(UsageError) as caught:
        plugins.load(["./mine.py"], tmp_path, allow=False)
    assert not (tmp_path / "ran").exists()
    for words in (str(path), hashlib.sha256(path.read_bytes()).hexdigest(), "--allow-plugins"):
        assert words in str(caught.value)


def test_an_approval_holds_for_the_same_content_at_the_same_path_only(tmp_path):
    path = _plugin(tmp_path)
    plugins.load(["./mine.py"], tmp_path, allow=True)
    plugins._loaded.clear()
    registry.forget(_origin())
    assert len(plugins.load(["mine.py"], tmp_path, allow=False)) == 1
    path.write_text(path.read_text() + "\n# edited\n")
    with pytest.raises(UsageError, match="not approved"):
        plugins.load(["./mine.py"], tmp_path, allow=False)
    other = tmp_path / "other"
    other.mkdir()
    _plugin(other)
    with pytest.raises(UsageError, match="not approved"):
        plugins.load(["./mine.py"], other, allow=False)


def _origin() -> str:
    return next(row.origin for row in registry.rows("loss") if row.name == "mine_loss")


def test_the_same_file_runs_once_per_process_and_an_edited_one_replaces_its_components(tmp_path):
    path = _plugin(tmp_path)
    plugins.load(["./mine.py"], tmp_path, allow=True)
    first = registry.find("loss", "mine_loss")
    plugins.load(["./mine.py"], tmp_path, allow=True)
    assert registry.find("loss", "mine_loss") is first
    path.write_text(LOSS.format(name="mine_better", summary="Better."))
    plugins.load(["./mine.py"], tmp_path, allow=True)
    assert registry.find("loss", "mine_loss") is None
    assert registry.find("loss", "mine_better") is not None


@pytest.mark.parametrize(
    ("code", "line", "words"),
    [
        ("x = 1\ny = x / 0\n", 2, "ZeroDivisionError: division by zero"),
        ("x = 1\n\ndef (:\n", 3, "SyntaxError: "),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
        ("import none_such_module\n", 1, "ModuleNotFoundError: "),
        (LOSS.format(name="hinge", summary="Taken."), 5, "loss 'hinge' is already registered by gantrain.objectives.catalog"),
    ],
)
def test_a_plugin_that_fails_names_its_line_and_leaves_nothing_registered(tmp_path, code, line, words):
    path = tmp_path / "mine.py"
    path.write_text(code)
    before = list(registry.rows())
    with pytest.raises(UsageError) as caught:
        plugins.load(["./mine.py"], tmp_path, allow=True)
    assert f"{path}:{line}: " in str(caught.value)
    assert words in str(caught.value)
    assert list(registry.rows()) == before


def test_a_plugin_that_fails_half_way_takes_its_first_half_back(tmp_path):
    path = _plugin(tmp_path)
    path.write_text(path.read_text() + "\n1 / 0\n")
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        plugins.load(["./mine.py"], tmp_path, allow=True)
    assert registry.find("loss", "mine_loss") is None


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("./none.py", "cannot read"),
        ("none_such", "no installed Python module"),
        ("a b", "no installed Python module"),
        ("x\0.py", "null"),
    ],
)
def test_a_plugin_that_is_not_there_says_where_it_was_looked_for(tmp_path, entry, words):
    with pytest.raises(UsageError, match=words):
        plugins.load([entry], tmp_path, allow=True)


def test_an_installed_module_is_found_without_running_its_package(tmp_path, monkeypatch):
    package = tmp_path / "gt_test_package"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('ran')")
    _plugin(package, file="inner.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UsageError, match="not approved"):
        plugins.load(["gt_test_package.inner"], tmp_path, allow=False)
    (package / "__init__.py").write_text("")
    (loaded,) = plugins.load(["gt_test_package.inner"], tmp_path, allow=True)
    assert (loaded.module, loaded.is_file, loaded.path) == ("gt_test_package.inner", False, package / "inner.py")
    assert registry.find("loss", "mine_loss") is not None


def test_an_entry_point_of_the_group_is_a_short_name_of_its_module(tmp_path, monkeypatch):
    _plugin(tmp_path, file="gt_test_module.py")
    info = tmp_path / "gt_test-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gt_test\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[gantrain.plugins]\nshort = gt_test_module\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert plugins.installed()["short"] == "gt_test_module"
    (loaded,) = plugins.load(["short"], tmp_path, allow=True)
    assert loaded.module == "gt_test_module"


def test_what_is_hashed_is_what_runs_even_if_the_file_changes_meanwhile(tmp_path, monkeypatch):
    path = _plugin(tmp_path)
    found = plugins._find("./mine.py", tmp_path)
    path.write_text("raise RuntimeError('changed after it was approved')")
    loaded = plugins._load_one(found, allow=True)
    assert loaded.sha256 == hashlib.sha256(loaded.code).hexdigest()
    assert registry.find("loss", "mine_loss") is not None


def test_a_damaged_table_of_approvals_is_named_and_never_taken_for_consent(tmp_path):
    _plugin(tmp_path)
    approvals_file().parent.mkdir(parents=True)
    for text in ("{", "[]", '{"a": 3}'):
        approvals_file().write_text(text)
        with pytest.raises(UsageError, match=r"approved_plugins\.json"):
            plugins.load(["./mine.py"], tmp_path, allow=False)
        assert approvals_file().read_text() == text


def test_approvals_are_a_readable_file_of_paths_and_hashes(tmp_path):
    path = _plugin(tmp_path)
    (loaded,) = plugins.load(["./mine.py"], tmp_path, allow=True)
    assert json.loads(approvals_file().read_text()) == {str(path): [loaded.sha256]}
    assert [file.name for file in approvals_file().parent.iterdir()] == ["approved_plugins.json"]


def test_a_spec_can_use_its_plugins_components_and_a_refusal_has_a_position(tmp_path):
    _plugin(tmp_path)
    config = tmp_path / "spec.yaml"
    config.write_text(
        "data: {source: digits}\ngenerator: mlp\ndiscriminator: mlp\nlatent: {size: 32}\ntraining: {steps: 10}\n"
        "plugins: [./mine.py]\nobjective: {loss: {name: mine_loss, margin: 3}}\n"
    )
    with pytest.raises(SpecError) as caught:
        load_spec(config)
    (problem,) = caught.value.problems
    assert (problem.rule, problem.line, problem.column) == ("plugin", 6, 11)
    loaded = load_spec(config, allow_plugins=True)
    assert registry.build(loaded.spec.objective.loss) == 3.0
    assert [plugin.entry for plugin in loaded.plugins] == ["./mine.py"]
    assert load_spec(config).spec == loaded.spec
