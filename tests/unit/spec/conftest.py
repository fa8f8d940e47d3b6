"""Specs that tests change: small, valid, and free of warnings."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from gantrain.spec.model import Spec
from gantrain.spec.parse import spec_from_tree

BASES: dict[str, dict[str, Any]] = {
    "pictures": {
        "name": "pictures",
        "data": {"source": {"name": "fashion_sample"}},
        "generator": {"name": "dcgan", "base_width": 8},
        "discriminator": {"name": "dcgan", "base_width": 8},
        "training": {"steps": 2000},
    },
    "points": {
        "name": "points",
        "data": {"source": {"name": "gaussian_mixture"}, "range": None},
        "generator": {"name": "mlp"},
        "discriminator": {"name": "mlp"},
        "latent": {"size": 2},
        "training": {"steps": 2000},
    },
    "codes": {
        "name": "codes",
        "task": "aae",
        "data": {"source": {"name": "fashion_sample"}},
        "encoder": {"name": "dcgan", "base_width": 8},
        "decoder": {"name": "dcgan", "base_width": 8},
        "discriminator": {"name": "mlp"},
        "prior": {"name": "normal", "size": 8},
        "training": {"steps": 2000},
    },
    "windows": {
        "name": "windows",
        "task": "history",
        "data": {"source": {"name": "window_teacher"}, "order": "sequential"},
        "model": {"name": "mlp", "units": [32]},
        "training": {"steps": 2000},
    },
}


def changed(base: str, **changes: Any) -> dict[str, Any]:
    """A copy of a base with changes written `training__steps=3`."""
    tree = copy.deepcopy(BASES[base])
    for key, value in changes.items():
        *parents, last = key.split("__")
        inner = tree
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = value
    return tree


@pytest.fixture
def tree_of() -> Callable[..., dict[str, Any]]:
    return changed


@pytest.fixture
def spec_of() -> Callable[..., Spec]:
    """The spec of a changed base; static rules are not judged."""
    return lambda base, **changes: spec_from_tree(changed(base, **changes))
