from __future__ import annotations

from gantrain.spec.problems import Place, SpecError, dotted, problem_at


def _problem(rule="wrong-type", line=1, column=1, severity="error"):
    return problem_at(Place("f.yaml", line, column), rule, "text", ("data", 0), severity)


def test_a_problem_reads_like_a_compilers():
    assert str(_problem(line=3, column=7)) == "f.yaml:3:7: error [wrong-type]: text"


def test_a_problem_of_an_override_shows_the_override():
    assert str(problem_at(Place("--set a=1"), "wrong-type", "text")) == "--set a=1: error [wrong-type]: text"


def test_an_error_holds_all_problems_once_by_position_and_overrides_last():
    override = problem_at(Place("--set a=1"), "unknown-key", "text")
    error = SpecError([override, _problem(line=9), _problem(line=10), _problem(line=9, column=2), _problem(line=9)])
    assert [(problem.line, problem.column) for problem in error.problems] == [(9, 1), (9, 2), (10, 1), (None, None)]


def test_the_exit_code_is_that_of_data_only_when_nothing_else_is_wrong():
    unreadable, warning = _problem("source-unreadable"), _problem("tiny-data", severity="warning")
    assert SpecError([unreadable, warning]).exit_code == 4
    assert SpecError([unreadable, _problem()]).exit_code == 2


def test_a_path_is_written_as_set_takes_it():
    assert dotted(("objective", "penalties", 0, "weight")) == "objective.penalties.0.weight"
