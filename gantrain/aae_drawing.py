"""The stages of `sample` for task `aae`: decoded prior draws, a walk over the latent plane, reconstructions, codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf

from gantrain import checkpoint, registry
from gantrain.aae_experiment import build_aae_net, build_aae_sampler
from gantrain.coding import Coder
from gantrain.data import headers
from gantrain.data.input_pictures import are_pictures, read_pictures
from gantrain.data.inputs import read_inputs
from gantrain.drawing import Drawing, Wish
from gantrain.errors import DataError, UsageError
from gantrain.keys import stream_key
from gantrain.pictures import Note
from gantrain.rundir.files import os_errors_explained
from gantrain.spec.aae import AaeSpec

EDGES = (0.01, 0.99)  # quantiles of the prior between which a walk over the plane goes
EDGE_DRAWS = 10_000  # prior draws that these are taken from
WALK = (16, 16)  # rows and columns of it, unless --grid says otherwise
LABELS_KEY = "labels"  # of the array in an npz of inputs, where the source names none


class AaeDrawing(Drawing):
    """Draws from one checkpoint of task `aae`."""

    _spec: AaeSpec

    def __init__(self, path: Path, spec: AaeSpec, wish: Wish, note: Note = lambda _: None) -> None:
        super().__init__(path, spec, wish, note)
        if wish.weights == "ema":
            raise UsageError("task aae keeps no moving average; leave --weights out")
        self._inputs = wish.reconstruct or wish.encode  # file of examples, or None
        self._examples = np.zeros(0)

    def outputs(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Network outputs [n,*shape] float32 and their classes [n] int64, or None. Raises UsageError, DataError, RunError."""
        if self._wish.reconstruct is not None:
            self._examples = self._read(self._wish.reconstruct)
            labels = self._labels_of(self._wish.reconstruct, len(self._examples))
            return self._coder().rebuild(self._examples, labels), labels
        if self._wish.latent_grid:
            points, labels = self._walk()
            return self._coder().decode(points, labels), labels
        labels = self._labels()
        sampler = build_aae_sampler(self._spec, self._net("decoder"), self._manifest.data, self._wish.batch_size)
        return sampler.draw(self._wish.seed, self._wish.count, labels), labels

    def arrays(self, outputs: np.ndarray, labels: np.ndarray | None) -> dict[str, np.ndarray]:
        """What an npz holds besides its facts: for reconstructions, also what they are of."""
        arrays = super().arrays(outputs, labels)
        if self._wish.reconstruct is None:
            return arrays
        arrays["reconstructions"] = arrays.pop("samples")
        return {"inputs": self._in_units(self._examples), **arrays}

    def picture(self, outputs: np.ndarray) -> np.ndarray:
        """A grid; reconstructions stand right of what they are of."""
        if self._wish.reconstruct is not None:
            return self._pictures.beside(self._examples, outputs, self._wish.layout)
        return super().picture(outputs)

    def write(self, out: Path | None) -> list[Path]:
        """Draw and write; the files, in order. Raises UsageError for a form that this data has not."""
        if self._wish.encode is None:
            return super().write(out)
        if self._wish.form != "npz":
            raise UsageError(f"--encode: codes are numbers, not --as {self._wish.form}; use --as npz")
        target = self._target(out)
        means, stds = self._coder().encode(self._read(self._wish.encode))
        with os_errors_explained("write", target):
            target.parent.mkdir(parents=True, exist_ok=True)
        return self._write_npz(target, {"codes": means, **({} if stds is None else {"stds": stds})})

    # ---------------------------------------------------------------- what is drawn

    def _walk(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Points [rows*columns,2] between the edges of the prior: the first number grows to the right, the second upwards."""
        if self._spec.code_size != 2:
            raise UsageError(f"--latent-grid walks over a plane, but prior.size is {self._spec.code_size}; it needs size: 2")
        more = (tf.constant(self._edge_labels()),) if self._spec.prior.uses_labels() else ()
        key = tf.constant([stream_key(0, "latent_grid"), 0], tf.int64)
        draws = registry.build(self._spec.prior)(EDGE_DRAWS, 2, key, *more).numpy()
        (left, low), (right, high) = np.quantile(draws, EDGES, axis=0)
        rows, columns = self._wish.layout or WALK
        x, y = np.meshgrid(np.linspace(left, right, columns), np.linspace(high, low, rows))
        points = np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float32)
        return points, self._asked(len(points)) if self._labels() is not None and self._spec.decoder.uses_labels() else None

    def _edge_labels(self) -> np.ndarray:
        """Of the part of a prior by label to walk over: the class that was asked for, else all of them."""
        every = np.arange(EDGE_DRAWS, dtype=np.int64) % len(self._manifest.data.class_names)
        return every if self._wish.class_name is None else self._asked(EDGE_DRAWS)

    def _asked(self, count: int) -> np.ndarray:
        """One class over the whole plane: the one that was asked for, else the first."""
        names = self._manifest.data.class_names
        return np.full(count, 0 if self._wish.class_name is None else names.index(self._wish.class_name), np.int64)

    def _coder(self) -> Coder:
        return Coder(self._net("encoder"), self._net("decoder"), self._wish.batch_size)

    def _net(self, role: str):
        net = build_aae_net(self._spec, role, self._manifest.data)
        checkpoint.restore_part(self._path, net.variables, role)
        return net.model

    # ---------------------------------------------------------------- examples of the user

    def _read(self, path: Path) -> np.ndarray:
        """Examples [n,*shape] as the networks see them. Raises DataError."""
        data, source = self._manifest.data, self._spec.data.source
        if are_pictures(path):
            values = read_pictures(path, source, data.shape, data.source_range)
        else:
            values = read_inputs(path, source, data.shape, data.table).values
        span = data.source_range
        if span is not None and (values.min() < span[0] or values.max() > span[1]):
            raise DataError(
                f"{path} holds values from {values.min():g} to {values.max():g}, this run was trained on {list(span)}; scale them"
            )
        if data.dtype == "uint8" and values.max() <= 1 and np.any(values % 1):
            raise DataError(
                f"{path} holds fractions from 0 to 1, this run was trained on whole numbers from 0 to 255; scale them"
            )
        return self._pictures.transform.forward(tf.constant(values)).numpy()

    def _labels_of(self, path: Path, count: int) -> np.ndarray | None:
        """Of examples to reconstruct, where the decoder reads labels: --class, or those beside the examples."""
        if not self._spec.decoder.uses_labels():
            return None
        if self._wish.class_name is not None:
            self._labels()  # refuses an unknown name
            return self._asked(count)
        key = getattr(self._spec.data.source, "labels_key", None) or LABELS_KEY
        if path.is_dir() or key not in headers.names_in(path):
            raise UsageError(f"this decoder reads labels: give --class NAME, or an .npz with the class numbers as {key!r}")
        labels = np.asarray(headers.load(headers.read(path, key)))
        known = len(self._manifest.data.class_names)
        if labels.dtype.kind not in "ui" or labels.shape != (count,) or labels.min() < 0 or labels.max() >= known:
            raise DataError(f"{path}: {key!r} must be {count} class numbers from 0 to {known - 1}, [{count}]")
        return labels.astype(np.int64)

    # ---------------------------------------------------------------- words

    def _stem(self, run: str) -> str:
        kind = "reconstructions" if self._wish.reconstruct is not None else "codes"
        if self._inputs is not None:
            return f"{run}-{self._inputs.stem or 'inputs'}-{kind}"
        return f"{run}-latent-grid" if self._wish.latent_grid else super()._stem(run)

    def _role(self) -> str:
        return "decoder"

    def _reads_labels(self) -> bool:
        return self._spec.decoder.uses_labels() or self._spec.prior.uses_labels()

    def _check_form(self) -> None:
        if self._wish.latent_grid or self._wish.reconstruct is None:
            super()._check_form()
        elif self._wish.form == "images":
            raise UsageError("--reconstruct shows pairs: use --as grid, or --as npz")
        elif self._wish.form != "grid" or not self._pictures.drawable:
            super()._check_form()
