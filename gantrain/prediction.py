"""The stages of `predict`: a checkpoint of task `history` becomes a network, a file of inputs becomes outputs and windows."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import tensorflow as tf

from gantrain import checkpoint, stored
from gantrain.data.inputs import Inputs, read_inputs
from gantrain.data.transforms import RangeTransform
from gantrain.errors import DivergedError, UsageError
from gantrain.history_experiment import build_model
from gantrain.manifest import Manifest
from gantrain.rundir.files import os_errors_explained, write_atomically
from gantrain.spec.history import HistorySpec
from gantrain.spec.tasks import AnySpec
from gantrain.training.history_assembly import window_form
from gantrain.training.predicting import Predictions, Predictor

SUFFIX = ".npz"


def predict_file(path: Path, spec: AnySpec, inputs: Path, out: Path | None) -> Path:
    """Read `inputs`, run the network of the checkpoint at `path` and write `outputs` [n,D] and `Z` [n,K*D]; the file.

    Raises UsageError, DataError, RunError.
    """
    if not isinstance(spec, HistorySpec):
        raise UsageError(f"predict is for task history, this is a checkpoint of task {spec.task}: use gantrain sample")
    manifest = stored.verify(path)
    target = out or Path(f"{inputs.stem}-{spec.name}-step-{manifest.step:08d}{SUFFIX}")
    if target.suffix != SUFFIX:
        raise UsageError(f"--out {target}: outputs and Z go to a file whose name ends in {SUFFIX}")
    given = read_inputs(inputs, spec.data.source, manifest.data.shape, manifest.data.table)
    _write(target, _predictions(path, spec, manifest, given))
    return target


def _predictions(path: Path, spec: HistorySpec, manifest: Manifest, given: Inputs) -> Predictions:
    model = build_model(spec, manifest.data)
    checkpoint.restore_part(path, model.variables, model.role)
    transform = RangeTransform(manifest.data.source_range, manifest.data.network_range)
    inputs = transform.forward(tf.constant(given.values)).numpy()
    found = Predictor(model.model, window_form(spec), manifest.data.shape).predict(inputs, given.sequences)
    if not np.isfinite(found.outputs).all():
        raise DivergedError(f"{path} gives outputs that are not finite for these inputs; use an earlier checkpoint")
    return found


def _write(target: Path, found: Predictions) -> None:
    with os_errors_explained("write", target):
        target.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    np.savez(buffer, outputs=found.outputs, Z=found.z)
    write_atomically(target, buffer.getvalue())
