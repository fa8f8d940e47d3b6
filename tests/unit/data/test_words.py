"""Numbers and nouns agree."""

from __future__ import annotations

import pytest

from gantrain.data.words import counted


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(0, "row", "0 rows"), (1, "row", "1 row"), (12_000, "picture", "12,000 pictures"), (2, "class", "2 classes")],
)
def test_one_thing_is_singular_and_all_other_counts_are_plural(number: int, noun: str, text: str):
    assert counted(number, noun) == text
