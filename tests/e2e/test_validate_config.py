"""The commands that need no TensorFlow, through the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gantrain import registry
from gantrain.cli.main import COMMANDS, main
from gantrain.spec.loading import load_text
from gantrain.spec.schema import json_schema
from gantrain.spec.tasks import SPECS

ROOT = Path(__file__).resolve().parents[2]
GOOD = ROOT / "tests" / "specs" / "good" / "smallest.yaml"
BAD = ROOT / "tests" / "specs" / "bad"
FREE = {
    "help": ["--help"],
    "version": ["--version"],
    "validate-config": ["validate-config", str(GOOD)],
    "list": ["list"],
    "schema": ["schema"],
}
_WATCH = "import sys; from gantrain.cli.output import run_command; from gantrain.cli.main import gantrain; " \
    "code = run_command(lambda: gantrain.main(sys.argv[1:], standalone_mode=False)); " \
    "sys.exit(code or ','.join({'tensorflow', 'keras', 'PIL'} & set(sys.modules)) or 0)"  # fmt: skip


@pytest.fixture
def run(capsys):
    """(exit code, stdout, stderr) of a command line, in this process."""

    def run_here(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        return (ended.value.code, *capsys.readouterr())

    return run_here


@pytest.mark.parametrize("arguments", FREE.values(), ids=FREE.keys())
def test_commands_without_nets_never_import_tensorflow(arguments):
    done = subprocess.run([sys.executable, "-c", _WATCH, *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stdout != "") == (0, True), done.stderr


def test_help_names_every_command_without_importing_it():
    code = "import sys; import gantrain.cli.main as m; m.gantrain.main(['--help'], standalone_mode=False); " \
        "sys.exit(','.join({'pydantic', 'numpy', 'yaml'} & set(sys.modules)) or 0)"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [name for name in COMMANDS if name not in done.stdout] == []


def test_a_good_config_says_in_one_line_what_it_is(run):
    code, out, err = run("validate-config", GOOD)
    assert (code, out) == (0, f"{GOOD}: ok: smallest (gan), digits 8x8x1, 1,797 examples, 10 steps\n")
    assert all(": note [" in line for line in err.splitlines())


def test_a_bad_config_ends_with_2_and_one_line_per_problem_on_stderr(run):
    file = BAD / "several_problems_at_once.yaml"
    code, out, err = run("validate-config", file)
    lines = err.splitlines()
    assert (code, out) == (2, "")
    assert len(lines) == file.read_text().count("# expect ")
    assert all(line.startswith(f"{file}:") for line in lines)


def test_only_unreadable_data_ends_with_4(run):
    assert run("validate-config", BAD / "missing_folder.yaml")[0] == 4
    assert run("validate-config", BAD / "missing_folder.yaml", "--set", "training.steps=0")[0] == 2


def test_a_missing_config_ends_with_2_without_a_traceback(run):
    code, _, err = run("validate-config", "none.yaml")
    assert code == 2
    assert err == "error: cannot read none.yaml: No such file or directory; give the path of a YAML file\n"


def test_problems_as_json_are_data(run):
    code, out, err = run("validate-config", BAD / "buffer_too_small.yaml", "--json")
    report = json.loads(out)
    assert (code, err, report["ok"]) == (2, "", False)
    errors = [problem for problem in report["problems"] if problem["severity"] == "error"]
    assert [(error["rule"], error["line"], error["path"]) for error in errors] == [("buffer-too-small", 5, "data.shuffle_buffer")]


def test_a_good_config_as_json_is_ok_and_can_hold_the_resolved_spec(run):
    code, out, _ = run("validate-config", GOOD, "--json", "--resolved", "--set", "seed=5")
    report = json.loads(out)
    assert (code, report["ok"], report["resolved"]["seed"]) == (0, True, 5)


def test_the_resolved_spec_is_yaml_that_validates_to_itself(run, tmp_path):
    code, out, _ = run("validate-config", GOOD, "--resolved", "--set", "training.ema=null")
    assert code == 0
    assert load_text(out, "f").tree["training"]["ema"] is None
    copy = tmp_path / "copy.yaml"
    copy.write_text(out)
    assert run("validate-config", copy, "--resolved")[:2] == (0, out)


def test_plugins_are_refused_until_they_are_allowed_once(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "mine.py").write_text("x = 1\n")
    config = tmp_path / "spec.yaml"
    config.write_text(GOOD.read_text() + "plugins: [./mine.py]\n")
    code, _, err = run("validate-config", config)
    assert (code, "--allow-plugins" in err) == (2, True)
    assert run("validate-config", config, "--allow-plugins")[0] == 0
    assert run("validate-config", config)[0] == 0


def test_list_shows_every_component_with_its_summary(run):
    code, out, _ = run("list")
    assert code == 0
    for row in registry.rows():
        assert any(row.name in line.split() and row.summary in line and row.kind in line.split() for line in out.splitlines())
    assert {line.split()[0] for line in run("list", "loss")[1].splitlines()} == {"loss"}


def test_an_unknown_kind_suggests_one(run):
    assert run("list", "losses")[::2] == (2, "error: there is no kind or component losses; did you mean loss?\n")


def test_the_schema_knows_every_component_and_setting(run):
    code, out, _ = run("schema")
    schema = json.loads(out)
    assert (code, schema) == (0, json_schema())
    parts = [schema]
    while "if" in parts[-1]:  # then: the schema of one task, else: that of the others
        parts[-1:] = [parts[-1]["then"], parts[-1]["else"]]
    by_task = {part["properties"]["task"]["const"]: part for part in parts}
    assert by_task.keys() == SPECS.keys()
    for task, kind in (("history", "model"), ("aae", "encoder"), ("gan", "generator")):
        part = by_task[task]
        assert "name" not in part["required"]
        names = {form["properties"]["name"]["const"] for form in part["properties"][kind]["anyOf"] if "properties" in form}
        assert names == set(registry.names(kind))


def test_every_reference_in_the_schema_leads_somewhere():
    schema = json_schema()

    def references(part):
        if isinstance(part, dict):
            yield from [part["$ref"]] if isinstance(part.get("$ref"), str) else []
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            yield from references(inner)

    found = set(references(schema))
    assert found
    for reference in found:
        assert reference.removeprefix("#/$defs/") in schema["$defs"]


def test_a_closed_pipe_is_no_error_message():
    command = f"{sys.executable} -m gantrain schema | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode in (0, 141)
    assert done.stderr == ""


@pytest.mark.parametrize("arguments", [["none"], ["validate-config"], ["validate-config", "--none", str(GOOD)], []])
def test_a_wrong_command_line_ends_with_2_and_shows_the_usage(run, arguments):
    code, _, err = run(*arguments)
    assert code == 2
    assert "Usage: gantrain" in err


def test_list_of_a_name_shows_each_setting_with_its_default(run):
    code, out, _ = run("list", "dcgan")
    assert code == 0
    assert "  base_width: default 64; a whole number of at least 1" in out.splitlines()
    assert sum(line.startswith(("generator dcgan:", "discriminator dcgan:")) for line in out.splitlines()) == 2
    assert "  path: needed; text" in run("list", "image_folder")[1].splitlines()


def test_an_error_comes_before_warnings_and_notes(run, tmp_path):
    config = tmp_path / "spec.yaml"
    config.write_text(GOOD.read_text())
    changes = ("--set", "latent.size=1", "--set", "output.log_every=0")
    lines = run("validate-config", config, *changes)[2].splitlines()
    assert [line.split(" [")[0].rpartition(" ")[2] for line in lines][:2] == ["error", "warning"]
