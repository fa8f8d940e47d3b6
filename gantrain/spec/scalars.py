"""YAML 1.2 core-schema scalars for PyYAML, whose own are YAML 1.1 (`no` is false, `010` is 8, `1e-4` is text, `1:30` is 90).

The expressions are those of YAML 1.2.2, section 10.3.2 (https://yaml.org/spec/1.2.2), and the merge key `<<`.
"""

from __future__ import annotations

import re
from typing import Any

PREFIX = "tag:yaml.org,2002:"
MERGE = PREFIX + "merge"
STRING = PREFIX + "str"

_INTEGER = r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"

# tag -> (which plain scalars have it, their possible first characters); the first match wins, so integers stand before floats
RESOLVERS: dict[str, tuple[re.Pattern[str], list[str]]] = {
    PREFIX + "null": (re.compile(r"(?:null|Null|NULL|~|)\Z"), ["n", "N", "~", ""]),
    PREFIX + "bool": (re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), list("tTfF")),
    PREFIX + "int": (re.compile(rf"(?:{_INTEGER})\Z"), list("-+0123456789")),
    PREFIX + "float": (re.compile(rf"(?:{_FLOAT})\Z"), list("-+.0123456789")),
    MERGE: (re.compile(r"<<\Z"), ["<"]),
}


def add_resolvers(target: Any) -> None:
    """Add the YAML 1.2 rules to a PyYAML loader or dumper class, behind those it has."""
    for tag, (pattern, first) in RESOLVERS.items():
        target.add_implicit_resolver(tag, pattern, first)


def scalar_value(tag: str, text: str) -> str | int | float | bool | None:
    """The value of a scalar with a resolved or written tag. Raises ValueError, with a message for the user."""
    if tag in (STRING, MERGE):
        return _checked_text(text)
    if tag not in RESOLVERS:
        raise ValueError(f"the tag {_short_tag(tag)} is not allowed; write the value without a tag")
    if not RESOLVERS[tag][0].match(text):
        raise ValueError(f"{text!r} is not a value of the tag {_short_tag(tag)}")
    return _converted(tag, text)


def _converted(tag: str, text: str) -> int | float | bool | None:
    if tag == PREFIX + "null":
        return None
    if tag == PREFIX + "bool":
        return text.lower() == "true"
    return _integer(text) if tag == PREFIX + "int" else _float(text)


def _integer(text: str) -> int:
    if len(text) > 300:
        raise ValueError("this number has too many digits")
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    return int(text[2:] if base != 10 else text, base)


def _float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


def _checked_text(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("this text holds half of a surrogate pair, which is not a character")
    return text


def _short_tag(tag: str) -> str:
    return "!!" + tag.removeprefix(PREFIX) if tag.startswith(PREFIX) else tag
