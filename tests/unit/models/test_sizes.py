"""Which sizes stages reach, and what the refusal says. No TensorFlow."""

from __future__ import annotations

import re

import pytest

from gantrain.models.sizes import count_stages, seed_size, why_not


@pytest.mark.parametrize(
    ("height", "width", "stages", "seed"),
    [(28, 28, 2, (7, 7)), (64, 64, 4, (4, 4)), (48, 96, 3, (6, 12)), (8, 8, 1, (4, 4)), (4, 4, 0, (4, 4)), (30, 20, 1, (15, 10))],
)
def test_auto_halves_while_both_sides_are_even_and_at_least_four_remain(height, width, stages, seed):
    assert count_stages("auto", height, width) == stages
    assert seed_size("auto", height, width) == seed
    assert why_not((height, width, 1), "auto") is None


@pytest.mark.parametrize(
    ("shape", "stages"), [((37, 37, 3), 2), ((37, 37, 3), "auto"), ((514, 514, 1), "auto"), ((30, 64, 3), 3)]
)
def test_sizes_named_in_a_refusal_work(shape, stages):
    reason = why_not(shape, stages)
    assert reason is not None
    sizes = re.search(r"such as ([\dx or]+)", reason).group(1).strip().split(" or ")
    assert 1 <= len(sizes) <= 2
    for size in sizes:
        assert why_not((*map(int, size.split("x")), shape[2]), stages) is None


def test_a_refusal_reads_like_this():
    assert why_not((37, 37, 3), 2) == (
        "37x37 cannot be halved twice; sizes that work with 2 stages are multiples of 4, such as 36x36 or 40x40; "
        "or write `stages: auto`"
    )
    assert why_not((74, 74, 3), "auto") == (
        "74x74 can be halved once, down to 37x37: too many positions to start from (more than 256); "
        "sizes that work are multiples of 8, such as 72x72 or 80x80; or write `stages: 1` to start from 37x37 all the same"
    )


def test_the_stages_named_in_a_refusal_work():
    assert why_not((37, 37, 3), 0) is None
    assert why_not((74, 74, 3), 1) is None


def test_a_thin_picture_is_halved_until_its_short_side_allows_no_more():
    assert why_not((8, 1024, 3), "auto") is None
    assert count_stages("auto", 8, 1024) == 1


def test_vectors_are_sent_to_the_mlp():
    assert "mlp" in why_not((2,), "auto")
