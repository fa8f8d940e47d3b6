from __future__ import annotations

import pytest

from gantrain import registry
from gantrain.errors import UsageError
from gantrain.interfaces import LossSettings


@pytest.fixture
def _forget_rows_of_this_file():
    yield
    registry.forget(__name__)


def _register(name="of_this_test", **options):
    class Mine(LossSettings):
        """First line.

        More.
        """

        margin: float = 1.0

        def build(self, *arguments):
            return (self.margin, *arguments)

    Mine.__module__ = __name__
    return registry.register("loss", name, **options)(Mine)


@pytest.mark.usefixtures("_forget_rows_of_this_file")
def test_a_registered_class_is_found_listed_and_built():
    settings = _register()
    row = registry.find("loss", "of_this_test")
    assert row is not None
    assert (row.settings, row.summary, row.origin) == (settings, "First line.", __name__)
    assert "of_this_test" in registry.names("loss")
    assert registry.build(settings(margin=2), "a") == (2.0, "a")
    assert registry.row_of(settings()) is row


@pytest.mark.usefixtures("_forget_rows_of_this_file")
def test_a_builder_may_be_a_function_or_a_name_that_is_imported_when_it_is_used():
    made = _register("by_function", build=lambda settings, extra: (settings.margin, extra))
    assert registry.build(made(), 5) == (1.0, 5)
    named = _register("by_name", build="operator:attrgetter")
    with pytest.raises(UsageError, match="attribute name must be a string"):  # imported and called: its own error, with a name
        registry.build(named())


@pytest.mark.usefixtures("_forget_rows_of_this_file")
def test_a_taken_name_is_an_error_that_says_by_whom_and_nothing_is_overwritten():
    registry.load_built_in()
    before = registry.find("loss", "hinge")
    with pytest.raises(UsageError, match=r"'hinge' is already registered by gantrain\.objectives\.catalog"):
        _register("hinge")
    assert registry.find("loss", "hinge") is before


def test_an_unknown_kind_lists_the_kinds():
    with pytest.raises(UsageError, match="kinds are source, generator"):
        registry.register("lossy", "x")(LossSettings)


def test_settings_without_a_builder_are_refused():
    class NoBuilder(LossSettings):
        """Nothing builds this."""

    with pytest.raises(UsageError, match="write a method `build` in NoBuilder"):
        registry.register("loss", "no_builder")(NoBuilder)
    assert registry.find("loss", "no_builder") is None


def test_forgetting_an_origin_leaves_the_others():
    count = len(list(registry.rows()))
    _register()
    registry.forget(__name__)
    assert registry.find("loss", "of_this_test") is None
    assert len(list(registry.rows())) == count


def test_rows_come_in_the_order_of_kinds_then_names():
    keys = [(registry.KINDS.index(row.kind), row.name) for row in registry.rows()]
    assert keys == sorted(keys)
    assert len(keys) > 15
