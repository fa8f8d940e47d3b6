"""Numbers with their nouns, for messages."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 picture`, `12,000 pictures`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {_plural(noun)}"


def _plural(noun: str) -> str:
    return f"{noun}es" if noun.endswith(("s", "x")) else f"{noun}s"
