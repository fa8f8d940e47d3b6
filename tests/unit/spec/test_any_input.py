"""Whatever is in the file: a spec, or a SpecError with positions. Never another exception."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gantrain import registry
from gantrain.interfaces import SourceFacts
from gantrain.spec import rule
from gantrain.spec.model import Spec
from gantrain.spec.parse import load_spec_text, spec_from_tree
from gantrain.spec.problems import SpecError
from gantrain.spec.trees import dump_yaml

_KEYS = st.sampled_from(
    [
        *Spec.model_fields,
        "name",
        "source",
        "path",
        "height",
        "width",
        "batch_size",
        "range",
        "size",
        "loss",
        "steps",
        "epochs",
        "dir",
    ]
)
_WORDS = st.sampled_from(
    [*(row.name for row in registry.rows()), "full", "continue", "auto", "train", ".nan", "../x", "./x.py", "a b"]
)
_NUMBERS = st.integers(-3, 3000) | st.integers() | st.floats() | st.just(10**299)
_LEAVES = st.none() | st.booleans() | _NUMBERS | _WORDS | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_TREES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS | st.text(max_size=3), inner, max_size=5),
    max_leaves=25,
)
_YAML_PIECES = st.lists(
    st.sampled_from(
        [
            *"{}[],:-?&*!|>'\"%@`#~ \n\t",
            "\n  ",
            "- ",
            ": ",
            "&a ",
            "*a",
            "<<: ",
            "!!int ",
            "---\n",
            "...\n",
            "data",
            "source",
            "1e4",
            "\\x",
        ]
    )
    | st.text(max_size=4),
    max_size=25,
).map("".join)
_FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _loads_or_explains(text, overrides=()):
    try:
        return load_spec_text(text, "f.yaml", overrides).spec
    except SpecError as error:
        problems = error.problems
    assert problems
    for problem in problems:
        assert problem.message
        assert problem.file.startswith("--set ") or (problem.line and problem.column and problem.file == "f.yaml")
    return None


@_FEW
@given(_TREES)
def test_any_tree_gives_a_spec_or_problems_with_positions(tree):
    _loads_or_explains(dump_yaml(_printable(tree)))


@_FEW
@given(st.text(max_size=60) | _YAML_PIECES)
def test_any_text_gives_a_spec_or_problems_with_positions(text):
    _loads_or_explains(text)


@_FEW
@given(
    st.lists(
        st.text(max_size=12) | st.tuples(_KEYS, st.sampled_from([".", "=", ".0.", ".name="]), _KEYS | _YAML_PIECES).map("".join),
        max_size=3,
    )
)
def test_any_override_gives_a_spec_or_problems_with_positions(overrides):
    _loads_or_explains("data: {source: digits}\ngenerator: mlp\ndiscriminator: mlp\ntraining: {steps: 10}\n", overrides)


def _printable(tree):
    """YAML cannot hold lone surrogates; keys come from st.text too."""
    if isinstance(tree, dict):
        return {key.encode("utf-8", "replace").decode(): _printable(value) for key, value in tree.items()}
    return [_printable(value) for value in tree] if isinstance(tree, list) else tree


# ---------------------------------------------------------------- one change in a good spec


def _places(tree, path=()):
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from _places(value, (*path, key))


@pytest.mark.parametrize("base", ["pictures", "points"])
def test_any_single_change_of_a_full_spec_gives_a_spec_that_rules_can_judge_or_problems(spec_of, base):
    full = spec_of(base).model_dump(mode="json")
    places = list(_places(full))[1:]

    @_FEW
    @given(st.sampled_from(places), _TREES, st.sampled_from(["replace", "remove", "add"]))
    def check(path, value, how):
        tree = copy.deepcopy(full)
        container = tree
        for part in path[:-1]:
            container = container[part]
        if how == "replace":
            container[path[-1]] = value
        elif how == "remove":
            del container[path[-1]]
        elif isinstance(container, dict):
            container["extra"] = value
        spec = _loads_or_explains(dump_yaml(_printable(tree)))
        assert spec is None or spec_from_tree(spec.model_dump(mode="json")) == spec

    check()


_FACTS = st.builds(
    SourceFacts,
    shape=st.none() | st.tuples(st.integers(1, 100)) | st.tuples(st.integers(1, 100), st.integers(1, 100), st.integers(1, 4)),
    length=st.none() | st.integers(1, 10**7),
    num_classes=st.none() | st.integers(1, 1000),
    bounded=st.none() | st.booleans(),
)
_CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "data__batch_size": st.integers(1, 10**6),
        "data__shuffle_buffer": st.integers(1, 10**7) | st.just("full"),
        "data__epoch_end": st.sampled_from(["continue", "partial", "drop"]),
        "data__range": st.none() | st.sampled_from([[-1, 1], [0, 1], [0, 255]]),
        "training": st.fixed_dictionaries(
            {}, optional={"steps": st.integers(1, 10**9), "epochs": st.integers(1, 10**6), "jit": st.booleans()}
        ),
        "latent__size": st.integers(1, 10**6),
        "objective__loss": st.sampled_from(registry.names("loss")),
    },
)


@pytest.mark.parametrize("base", ["pictures", "points"])
def test_no_rule_ever_raises_whatever_the_facts(spec_of, base):
    @_FEW
    @given(_CHANGES, _FACTS)
    def check(changes, facts):
        spec = spec_of(base, **changes)
        for each in (each for each in rule.RULES.values() if spec.task in each.tasks):
            for path, message in each.judge(spec, facts):
                assert path
                assert message

    check()


_HISTORY_CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "data__batch_size": st.integers(1, 10**6),
        "data__epoch_end": st.sampled_from(["continue", "partial", "drop"]),
        "data__order": st.sampled_from(["sequential", "shuffled"]),
        "history__length": st.integers(1, 10**4),
        "history__unit": st.sampled_from(["sample", "batch"]),
        "history__start": st.sampled_from(["zeros", "warm_up"]),
        "history__reset": st.sampled_from(["never", "epoch"]),
        "training": st.fixed_dictionaries({}, optional={"steps": st.integers(1, 10**9), "epochs": st.integers(1, 10**6)}),
        "objective__loss": st.sampled_from(registry.names("window_loss")),
    },
)
_SIZES = st.tuples(st.none() | st.integers(1, 200), st.none() | st.integers(1, 10**6))


def test_no_rule_of_task_history_ever_raises_whatever_the_facts(spec_of):
    @_FEW
    @given(_HISTORY_CHANGES, _FACTS, _SIZES)
    def check(changes, facts, sizes):
        spec = spec_of("windows", **changes)
        known = replace(facts, target_size=sizes[0], longest_sequence=sizes[1])
        for each in (each for each in rule.RULES.values() if spec.task in each.tasks):
            for path, message in each.judge(spec, known):
                assert path
                assert message

    check()
