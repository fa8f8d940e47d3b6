"""Words of messages that are used in several places."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean X?`, or the list of what is known."""
    choices = sorted(known)
    near = difflib.get_close_matches(name, choices, 1) or difflib.get_close_matches(name.lower(), choices, 1)
    return f"did you mean {near[0]}?" if near else f"known are: {', '.join(choices) or 'none'}"


def shown(value: Any) -> str:
    """A short form of a value for a message."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = f"the text {value!r}" if isinstance(value, str) else f"{value}"
    return text if len(text) <= 60 else text[:57] + "..."
