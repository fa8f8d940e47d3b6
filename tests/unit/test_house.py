"""The house rules that no linter checks: caps, who may print, floors, and what must not import TensorFlow."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gantrain"
LINES_PER_FILE = 300
LINES_PER_FUNCTION = 40
PARAMETERS = 7
NESTING = 3
TENSORFLOW_FREE = (
    "gantrain",
    "gantrain.interfaces",
    "gantrain.registry",
    "gantrain.plugins",
    "gantrain.manifest",
    "gantrain.spec.parse",
    "gantrain.spec.rules",
    "gantrain.rundir.directory",
    "gantrain.rundir.grid",
    "gantrain.rundir.metrics",
    "gantrain.data.catalog",
    "gantrain.models.catalog",
    "gantrain.objectives.catalog",
    "gantrain.training.catalog",
    "gantrain.cli.main",
)
_IMPORT_EACH = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
    if heavy := {"tensorflow", "keras", "PIL"} & set(sys.modules):
        sys.exit(f"{name} imports {heavy}")
"""
_NESTS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _modules(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def _functions(path: Path) -> Iterator[tuple[str, _Function]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node


def _parameters(function: _Function) -> int:
    arguments = function.args
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in listed)


def _depth(node: ast.AST) -> int:
    """Deepest nesting of blocks below `node`; `elif` is no deeper than its `if`."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, _depth(child) + (isinstance(child, _NESTS) and not chained))
    return deepest


def test_files_are_short() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in _modules("gantrain", "tests", "scripts")
    }
    assert len(lengths) > 20
    assert {name: length for name, length in lengths.items() if length > LINES_PER_FILE} == {}


def test_functions_are_short_shallow_and_take_few_parameters() -> None:
    functions = [entry for path in _modules("gantrain") for entry in _functions(path)]
    assert len(functions) > 50
    length = {name: node.end_lineno - node.lineno + 1 for name, node in functions if node.end_lineno}
    assert {name: lines for name, lines in length.items() if lines > LINES_PER_FUNCTION} == {}
    assert [name for name, node in functions if _parameters(node) > PARAMETERS] == []
    assert [name for name, node in functions if _depth(node) > NESTING] == []


def test_the_depth_counts_blocks_and_not_elif() -> None:
    flat = ast.parse("if a:\n  pass\nelif b:\n  pass\nelif c:\n  pass")
    deep = ast.parse("for a in b:\n  if a:\n    pass\n  else:\n    with c:\n      pass")
    assert (_depth(flat), _depth(deep)) == (1, 3)


def test_only_the_output_room_prints() -> None:
    printing = {
        str(path.relative_to(PACKAGE))
        for path in _modules("gantrain")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert printing <= {"cli/output.py"}


def test_no_function_passes_unknown_keywords_through() -> None:
    functions = [entry for path in _modules("gantrain") for entry in _functions(path)]
    # click hands a command's options over as keywords; there they become a frozen object at once.
    # A layer's `call` of Keras takes any keywords: what stands before it hands on all of them, unread.
    allowed = ("gantrain/cli/", "gantrain/capturing.py")
    offenders = [name for name, node in functions if node.args.kwarg and not name.startswith(allowed)]
    assert offenders == []


def test_imports_respect_the_floors() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Contracts: 2 kept, 0 broken." in result.stdout


def test_importing_the_lower_floors_does_not_import_tensorflow() -> None:
    result = subprocess.run([sys.executable, "-c", _IMPORT_EACH, *TENSORFLOW_FREE], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def test_every_module_says_what_it_is_for() -> None:
    assert [
        str(path) for path in _modules("gantrain") if path.read_text() and not ast.get_docstring(ast.parse(path.read_text()))
    ] == []
