from __future__ import annotations

from pathlib import Path

import pytest

from gantrain.interfaces import SourceFacts
from gantrain.spec.deep_rules import DEEP_RULES
from gantrain.spec.loading import load_text
from gantrain.spec.model import to_tree
from gantrain.spec.parse import load_spec_text
from gantrain.spec.problems import PARSE_RULES, SpecError
from gantrain.spec.rule import RULES, Rule
from gantrain.spec.rules import judge
from gantrain.spec.rules_data import smallest_buffer
from gantrain.spec.trees import dump_yaml

PLAIN = SourceFacts((28, 28, 1), 4000, None)
UNLABELLED_POINTS = SourceFacts((2,), 10000, None, bounded=False)
TARGETS = SourceFacts((32,), 1000, None, bounded=False, target_size=1, longest_sequence=1000)
CLEAN = {"pictures": PLAIN, "codes": PLAIN, "points": UNLABELLED_POINTS, "windows": TARGETS}
CASES = load_text((Path(__file__).resolve().parents[2] / "specs" / "rules.yaml").read_text(), "rules.yaml").tree


def _facts(**changes):
    return SourceFacts(**{"shape": (28, 28, 1), "length": 4000, "num_classes": None} | changes)


# they need a discriminator that does not end in logits or whose second derivatives are wrong, and none of ours is like that;
# or a disk that is full or closed: each has a test of its own below
UNTESTABLE_HERE = {"logits-activation", "second-derivative", "output-unwritable", "disk-space"}


def _found(spec, facts):
    return {finding.rule: ".".join(map(str, finding.path)) for finding in judge(spec, facts)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['rule']} at {case['place']}")
def test_a_rule_points_at_what_is_wrong_and_falls_silent_when_it_is_cured(spec_of, case):
    shape, *others = case["facts"]
    names, target_size, longest = [*others[3:], *[None] * 3][:3]
    facts = SourceFacts(tuple(shape), *others[:2], (), others[2], tuple(names or ()), target_size, longest)
    change, cure = case["change"], case["cure"]
    assert _found(spec_of(case["base"], **change), facts).get(case["rule"]) == case["place"]
    if cure is not None:  # null: the cure is other data
        assert case["rule"] not in _found(spec_of(case["base"], **change | cure), facts)


def test_every_rule_has_a_case():
    assert {case["rule"] for case in CASES} | UNTESTABLE_HERE == set(RULES)


def test_names_of_rules_and_of_parsing_are_apart():
    assert not set(RULES) & set(PARSE_RULES)
    assert not set(DEEP_RULES) & {*RULES, *PARSE_RULES}


@pytest.mark.parametrize("base", CLEAN)
def test_the_bases_of_these_tests_are_clean(spec_of, base):
    assert _found(spec_of(base), CLEAN[base]) == {}


@pytest.mark.parametrize("base", ["pictures", "points"])
def test_a_source_that_knows_nothing_silences_the_rules_that_need_it(spec_of, base):
    spec = spec_of(base, data__shuffle_buffer=1, data__batch_size=60_000, generator__conditioning="embedding")
    assert _found(spec, None) == {}


@pytest.mark.parametrize(("length", "smallest"), [(1, 1), (500, 500), (1000, 1000), (3999, 1000), (4001, 1001), (60000, 15000)])
def test_the_smallest_buffer_is_a_quarter_but_at_least_a_thousand_or_all(length, smallest):
    assert smallest_buffer(length) == smallest


def test_the_value_that_the_buffer_message_names_passes(spec_of):
    message = next(
        f.message for f in judge(spec_of("pictures", data__shuffle_buffer=5), _facts(length=4003)) if f.rule == "buffer-too-small"
    )
    assert "N = 4003" in message
    assert "write 1001 or more" in message
    assert "buffer-too-small" not in _found(spec_of("pictures", data__shuffle_buffer=1001), _facts(length=4003))


def test_a_discriminator_that_ends_in_a_sigmoid_is_refused(spec_of, monkeypatch):
    spec = spec_of("pictures")
    assert "logits-activation" not in _found(spec, PLAIN)
    monkeypatch.setattr(type(spec.discriminator), "last_activation", lambda _: "sigmoid")
    assert _found(spec, PLAIN)["logits-activation"] == "discriminator"


def test_a_penalty_on_the_slope_of_a_net_without_second_derivatives_is_refused(spec_of, monkeypatch):
    spec = spec_of("pictures", objective__penalties=["lecam", "r1"], discriminator__norm="none")
    assert "second-derivative" not in _found(spec, PLAIN)
    monkeypatch.setattr(type(spec.discriminator), "twice_differentiable", lambda _: False)
    assert _found(spec, PLAIN)["second-derivative"] == "objective.penalties.1"


def test_a_spectral_norm_in_the_discriminator_constrains_a_wasserstein_loss(spec_of, monkeypatch):
    spec = spec_of("pictures", objective__loss="wasserstein")
    monkeypatch.setattr(type(spec.discriminator), "norms", lambda _: frozenset({"spectral_norm"}))
    assert "wasserstein-unconstrained" not in _found(spec, PLAIN)


def test_ignore_silences_warnings_and_notes_but_never_errors(spec_of):
    ignored = ["tiny-data", "labels-unused", "batch-exceeds-data"]
    changes = {"data__batch_size": 20, "ignore": ignored}
    found = judge(spec_of("pictures", **changes), _facts(length=10, num_classes=3))
    assert [finding.rule for finding in found] == ["batch-exceeds-data"]
    assert found[0].message.endswith("(errors cannot be ignored)")


def test_an_unknown_name_in_ignore_is_an_error_that_suggests_the_right_one(spec_of):
    (finding,) = judge(spec_of("pictures", ignore=["tiny-dat"]), PLAIN)
    assert (finding.rule, finding.severity, finding.path) == ("unknown-name", "error", ("ignore", 0))
    assert "did you mean tiny-data?" in finding.message


def test_a_component_whose_facts_raise_is_named_and_does_not_crash(spec_of, monkeypatch):
    spec = spec_of("pictures")
    monkeypatch.setattr(type(spec.generator), "buildable", lambda *_: 1 / 0)
    (finding,) = judge(spec, PLAIN)
    assert (finding.rule, finding.severity) == ("size-unbuildable", "error")
    assert "ZeroDivisionError" in finding.message


def test_a_new_rule_is_one_decorated_function(spec_of, monkeypatch):
    def never_seed_13(spec, facts):
        if spec.seed == 13:
            yield ("seed",), "unlucky"

    monkeypatch.setitem(RULES, "unlucky-seed", Rule("unlucky-seed", "warning", never_seed_13, ("gan",)))
    assert _found(spec_of("pictures", seed=13), PLAIN) == {"unlucky-seed": "seed"}
    assert _found(spec_of("pictures", seed=14), PLAIN) == {}
    assert _found(spec_of("windows", seed=13), TARGETS) == {}  # it does not hold for other tasks


def test_an_output_directory_that_cannot_be_written_is_an_error(spec_of, tmp_path, monkeypatch):
    assert "output-unwritable" not in _found(spec_of("pictures", output__dir=str(tmp_path / "new" / "runs")), PLAIN)
    (tmp_path / "file").write_text("")
    assert _found(spec_of("pictures", output__dir=str(tmp_path / "file" / "runs")), PLAIN)["output-unwritable"] == "output.dir"
    monkeypatch.setattr("os.access", lambda *_: False)
    assert _found(spec_of("pictures", output__dir=str(tmp_path)), PLAIN)["output-unwritable"] == "output.dir"


@pytest.mark.parametrize(("free", "found"), [(199_999_999, True), (200_000_000, False)])
def test_a_disk_that_is_nearly_full_is_a_warning(spec_of, monkeypatch, free, found):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": free}))
    assert ("disk-space" in _found(spec_of("pictures"), PLAIN)) == found


def test_an_override_is_shown_where_it_is_the_cause(spec_of):
    with pytest.raises(SpecError) as caught:
        load_spec_text(dump_yaml(to_tree(spec_of("pictures"))), "f.yaml", ["generator.stages=9", "output.dir=f.yaml/x"])
    assert {problem.file for problem in caught.value.problems if problem.rule == "size-unbuildable"} == {
        "--set generator.stages=9"
    }
