"""Starting TensorFlow: quietly, and on the device asked for. Nothing else imports it first."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from gantrain.errors import GantrainError, UsageError

Device = Literal["auto", "cpu", "gpu"]


def start_tensorflow(device: Device) -> str:
    """Import TensorFlow without its start-up chatter and choose the device; the name of what will be used.

    Raises UsageError for `gpu` where TensorFlow sees none.
    """
    import_tensorflow()
    with _quiet_stderr():
        import tensorflow as tf

        gpus = _choose(device)
        _ = tf.constant(0) + 1  # the first op prints too
    return gpus


def import_tensorflow() -> None:
    """Import it without its chatter, with oneDNN's kernels, and without choosing a device yet.

    TensorFlow itself takes oneDNN only on processors with AVX512_VNNI or better. With AVX2 alone a convolutional step needs 1.2
    to 1.8 times as much processor time without it. A value of TF_ENABLE_ONEDNN_OPTS that the user has set stays.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # what fails raises; "errors" in this log are remarks on missing kernels
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    with _quiet_stderr():
        import tensorflow  # noqa: F401


def _choose(device: Device) -> str:
    import tensorflow as tf

    gpus = [] if device == "cpu" else tf.config.list_physical_devices("GPU")
    if device == "gpu" and not gpus:
        raise UsageError(
            "--device gpu: TensorFlow sees no GPU; install gantrain[gpu] and a driver (nvidia-smi must work), or use --device cpu"
        )
    if not gpus:
        tf.config.set_visible_devices([], "GPU")
        return "cpu"
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    return str(tf.config.experimental.get_device_details(gpus[0]).get("device_name", "gpu"))


def make_deterministic() -> None:
    """Demand kernels that give the same bits every time (a GPU's default ones need not)."""
    import tensorflow as tf

    tf.config.experimental.enable_op_determinism()


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Hide what C++ code writes to file descriptor 2; it is shown after all if the block fails for a reason we do not know."""
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as hidden:
        os.dup2(hidden.fileno(), 2)
        try:
            yield
        except GantrainError:
            raise
        except Exception:
            hidden.seek(0)
            os.write(saved, hidden.read())
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)
