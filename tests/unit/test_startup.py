"""Starting TensorFlow."""

from __future__ import annotations

import subprocess
import sys

SHOWS = """
import os, sys
os.environ.pop("TF_ENABLE_ONEDNN_OPTS", None)
os.environ.update(dict(item.split("=") for item in sys.argv[1:]))
sys.modules["tensorflow"] = sys  # not the real one, which takes seconds
from gantrain.startup import import_tensorflow
import_tensorflow()
print(os.environ["TF_ENABLE_ONEDNN_OPTS"])
"""


def _shown(*environment: str) -> str:
    command = [sys.executable, "-c", SHOWS, *environment]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_tensorflow_starts_with_the_kernels_of_onednn_unless_the_user_decided() -> None:
    assert _shown() == "1"
    assert _shown("TF_ENABLE_ONEDNN_OPTS=0") == "0"
