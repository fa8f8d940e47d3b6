"""scripts/prepare.sh with stand-ins for Python: what a first user is told, and that nothing is done twice."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_TOOLS = ("bash", "cat", "cksum", "dirname", "flock", "grep", "ls", "mkdir", "rm", "cp")
# Answers as a Python that fits would: knows venv unless VENV=no, and makes environments of copies of itself.
_PYTHON = """#!/bin/bash
echo "$@" >>"$CALLS"
case "$*" in
    *venv,\\ ensurepip*) [[ ${VENV:-yes} == yes ]] ;;
    *version_info*) [[ ${FITS:-yes} == yes ]] ;;
    *sys.prefix*) echo "${0%/bin/python}" ;;
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    "-m pip install"*) [[ ${PIP:-yes} == yes ]] ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a PATH of its own in `bin`: the few tools the script needs, and one python3."""
    for name in ("pyproject.toml", "scripts/constraints.txt", "scripts/prepare.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for tool in _TOOLS:
        if found := shutil.which(tool):
            (tmp_path / "bin" / tool).symlink_to(found)
    python = tmp_path / "bin" / "python3"
    python.write_text(_PYTHON)
    python.chmod(0o755)
    return tmp_path


def prepare(checkout: Path, extra: str = "run", **answers: str) -> tuple[int, str, list[str]]:
    """(exit code, what was said, pip installations) of one call."""
    calls = checkout / "calls"
    calls.write_text("")
    environment = {"PATH": str(checkout / "bin"), "CALLS": str(calls), **answers}
    command = ["bash", "-euo", "pipefail", "-c", f". scripts/prepare.sh; prepare {extra}; echo went on >&2"]
    result = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    return result.returncode, result.stderr, [line for line in calls.read_text().splitlines() if "pip install" in line]


def test_the_first_use_installs_and_the_second_calls_nothing(checkout: Path) -> None:
    code, said, installed = prepare(checkout)
    assert (code, len(installed)) == (0, 2)
    assert installed[1].endswith(f"--editable {checkout}")
    assert "about a minute and 2 GB" in said
    assert prepare(checkout) == (0, "went on\n", [])
    assert (checkout / "calls").read_text() == ""


def test_the_development_installation_serves_the_command_too(checkout: Path) -> None:
    assert prepare(checkout, "dev")[2][1].endswith(f"--editable {checkout}[dev]")
    assert prepare(checkout, "run") == (0, "went on\n", [])


def test_changed_constraints_are_installed_again(checkout: Path) -> None:
    prepare(checkout)
    with (checkout / "scripts" / "constraints.txt").open("a") as file:
        file.write("# another line\n")
    assert len(prepare(checkout)[2]) == 2


def test_an_interrupted_installation_is_finished_next_time(checkout: Path) -> None:
    code, said, _ = prepare(checkout, PIP="no")
    assert code == 2
    assert "the installation failed" in said
    assert "went on" not in said
    assert prepare(checkout)[0] == 0


def test_a_half_made_environment_of_ours_is_remade_and_a_foreign_one_is_left_alone(checkout: Path) -> None:
    prepare(checkout)
    (checkout / ".venv" / "bin" / "python").unlink()
    (checkout / ".venv" / ".ready-run").unlink()
    assert prepare(checkout)[0] == 0
    shutil.rmtree(checkout / ".venv")
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "precious").touch()
    code, said, _ = prepare(checkout)
    assert code == 2
    assert "move it away" in said
    assert (checkout / ".venv" / "precious").exists()


def test_a_moved_checkout_gets_a_new_environment(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    prepare(checkout)
    moved = tmp_path_factory.mktemp("moved") / "checkout"
    shutil.copytree(checkout, moved, symlinks=True)
    (moved / ".venv" / "bin" / "old").touch()
    assert len(prepare(moved)[2]) == 2
    assert not (moved / ".venv" / "bin" / "old").exists()


def test_a_missing_venv_module_is_named_with_its_package(checkout: Path) -> None:
    code, said, installed = prepare(checkout, VENV="no")
    assert (code, installed) == (2, [])
    assert "python3 has no venv module; on Debian and Ubuntu: apt install python3-venv" in said
    assert "went on" not in said


def test_no_fitting_python_is_said(checkout: Path) -> None:
    code, said, _ = prepare(checkout, FITS="no")
    assert code == 2
    assert "no Python 3.11, 3.12 or 3.13 found" in said


def test_the_gpu_libraries_come_where_nvidia_smi_works(checkout: Path) -> None:
    tool = checkout / "bin" / "nvidia-smi"
    tool.write_text("#!/bin/bash\necho 'GPU 0: a card'\n")
    tool.chmod(0o755)
    assert prepare(checkout)[2][1].endswith(f"--editable {checkout}[gpu]")
