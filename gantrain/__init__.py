"""gantrain: train GANs from a YAML file. Importing this package does not import TensorFlow."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gantrain.version import VERSION as __version__

if TYPE_CHECKING:
    from gantrain.capturing import capture

__all__ = ["__version__", "capture"]


def __getattr__(name: str) -> Any:
    """`gantrain.capture`, imported with TensorFlow when it is first asked for."""
    if name != "capture":
        raise AttributeError(f"module 'gantrain' has no attribute '{name}'")
    return importlib.import_module("gantrain.capturing").capture
