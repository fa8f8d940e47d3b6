"""A YAML file -> LoadedSpec, or one SpecError that holds all problems.

Stages: text -> tree -> overrides -> plugins -> settings -> rules.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gantrain import plugins
from gantrain.errors import RunError, UsageError
from gantrain.interfaces import SourceFacts
from gantrain.spec import rules
from gantrain.spec.bounds import out_of_bounds
from gantrain.spec.explain import explain
from gantrain.spec.judging import judged, located
from gantrain.spec.loading import LoadedTree, load_text, read_text
from gantrain.spec.overrides import apply_overrides
from gantrain.spec.plain import as_list, as_mapping, item
from gantrain.spec.positions import Positions
from gantrain.spec.problems import Problem, SpecError, in_order, problem_at
from gantrain.spec.tasks import AnySpec, spec_class


@dataclass(frozen=True)
class LoadedSpec:
    """A spec without errors, and what it was read from."""

    spec: AnySpec
    text: str  # of the file, as it is
    base_dir: Path  # relative paths of data and plugins start here
    tree: dict[str, Any]  # as written, with overrides, without defaults
    positions: Positions
    warnings: list[Problem]  # warnings and notes
    facts: SourceFacts | None  # of the source; None if it cannot tell without loading
    plugins: tuple[plugins.LoadedPlugin, ...]


def load_spec(path: str | Path, overrides: Sequence[str] = (), *, allow_plugins: bool = False) -> LoadedSpec:
    """Read, change by `KEY=VALUE` overrides, check. Raises SpecError with all problems, UsageError if the file cannot be read."""
    file = Path(path)
    text = read_text(file)
    return _checked(load_text(text, str(path)), text, file, overrides, allow_plugins)


def inspect_spec(
    path: str | Path, overrides: Sequence[str] = (), *, allow_plugins: bool = False
) -> tuple[LoadedSpec | None, list[Problem]]:
    """As `load_spec`, but rules that speak against the spec do not raise: what was read (None: not even a spec), all problems."""
    file = Path(path)
    text = read_text(file)
    return _inspected(load_text(text, str(path)), text, file, overrides, allow_plugins)


def load_spec_text(
    text: str, file: str = "spec.yaml", overrides: Sequence[str] = (), *, allow_plugins: bool = False
) -> LoadedSpec:
    """As `load_spec`, for a text that is at hand; `file` is used in messages and as the base of relative paths."""
    return _checked(load_text(text, file), text, Path(file), overrides, allow_plugins)


def spec_from_tree(tree: Any, *, file: str = "spec.resolved.yaml", allow_plugins: bool = False) -> AnySpec:
    """The spec of a resolved tree, such as a checkpoint's: names and types are checked, rules are not judged again."""
    loaded = LoadedTree(copy.deepcopy(tree), Positions(file), [])
    _load_plugins(loaded, Path(file).parent, allow_plugins)
    spec, problems = _validated(loaded)
    if spec is None:
        raise SpecError(problems)
    return spec


def read_resolved(path: Path, *, allow_plugins: bool = False) -> AnySpec:
    """The spec in a `spec.resolved.yaml`. Raises SpecError or UsageError."""
    loaded = load_text(read_text(path), str(path))
    if loaded.problems:
        raise SpecError(loaded.problems)
    return spec_from_tree(loaded.tree, file=str(path), allow_plugins=allow_plugins)


def require(loaded: LoadedSpec, facts: SourceFacts) -> None:
    """Judge the rules again with the full facts of an opened source, for what `peek` could not tell. Raises SpecError."""
    problems = [located(finding, loaded.positions) for finding in rules.judge(loaded.spec, facts)]
    if any(problem.severity == "error" for problem in problems):
        raise SpecError(problems)


def check_resolved(path: Path, *, allow_plugins: bool = False) -> None:
    """A run's own spec must be as it was written: it is not the user who has to correct it.

    Raises RunError for one that is missing or damaged; SpecError for a plugin that may not run.
    """
    try:
        read_resolved(path, allow_plugins=allow_plugins)
    except UsageError as error:
        if isinstance(error, SpecError) and any(problem.rule == "plugin" for problem in error.problems):
            raise
        first = str(error).splitlines()[0]
        raise RunError(
            f"{path} is missing or damaged ({first}); restore it from the run's checkpoints/step-*/{path.name}"
        ) from None


# ---------------------------------------------------------------- stages


def _checked(loaded: LoadedTree, text: str, file: Path, overrides: Sequence[str], allow_plugins: bool) -> LoadedSpec:
    spec, found = _inspected(loaded, text, file, overrides, allow_plugins)
    if spec is None or any(problem.severity == "error" for problem in found):
        raise SpecError(found)
    return spec


def _inspected(
    loaded: LoadedTree, text: str, file: Path, overrides: Sequence[str], allow_plugins: bool
) -> tuple[LoadedSpec | None, list[Problem]]:
    tree = as_mapping(loaded.tree)
    if tree is None:
        message = "a spec is a mapping such as 'data: ...'; this is something else"
        raise SpecError([*loaded.problems, problem_at(loaded.positions.of_value(()), "wrong-type", message)])
    if loaded.problems and not tree:
        raise SpecError(loaded.problems)  # nothing was readable: more problems would only repeat it
    apply_overrides(loaded, overrides)
    tree.setdefault("name", default_name(file))
    used = _load_plugins(loaded, file.parent, allow_plugins)
    spec, problems = _validated(loaded)
    findings, facts = judged(spec, loaded, problems, file.parent)
    found = in_order([*loaded.problems, *problems, *findings])
    if spec is None:
        return None, found
    return LoadedSpec(spec, text, file.parent, tree, loaded.positions, found, facts, used), found


def default_name(file: Path) -> str:
    """The file's stem, made fit for a directory's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", file.stem).lstrip(".-")[:100] or "run"


def _load_plugins(loaded: LoadedTree, base_dir: Path, allow: bool) -> tuple[plugins.LoadedPlugin, ...]:
    """Run the plugins first, for the names they register. A wrong type is left to the validation that follows."""
    found: list[plugins.LoadedPlugin] = []
    for index, entry in enumerate(as_list(item(loaded.tree, "plugins")) or []):
        if not isinstance(entry, str):
            continue
        try:
            found += plugins.load([entry], base_dir, allow)
        except UsageError as error:
            place = loaded.positions.of_value(("plugins", index))
            raise SpecError([*loaded.problems, problem_at(place, "plugin", str(error), ("plugins", index))]) from error
    return tuple(found)


def _validated(loaded: LoadedTree) -> tuple[AnySpec | None, list[Problem]]:
    root = spec_class(loaded.tree)
    try:
        spec = root.model_validate(loaded.tree)
    except ValidationError as error:
        refused = {problem.path for problem in loaded.problems if problem.rule == "yaml-syntax"}  # left out: no second problem
        found = explain(error, root, loaded.tree, loaded.positions)
        return None, [problem for problem in found if not problem.path or problem.path not in refused]
    beyond = [problem_at(loaded.positions.of_value(path), "out-of-range", said, path) for path, said in out_of_bounds(spec)]
    return (None if beyond else spec), beyond
