"""The stages of `sample`: a checkpoint becomes a generator, seeds become outputs, outputs become files."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gantrain import checkpoint, stored
from gantrain.data.transforms import RangeTransform
from gantrain.errors import RunError, UsageError
from gantrain.experiment import build_net, build_sampler
from gantrain.manifest import MANIFEST, Manifest
from gantrain.pictures import Note, Pictures
from gantrain.rundir.files import os_errors_explained, write_atomically
from gantrain.rundir.grid import write_png
from gantrain.spec.history import HistorySpec
from gantrain.spec.model import Spec
from gantrain.spec.tasks import AnySpec
from gantrain.training.memory import require

SUFFIXES = {"grid": ".png", "images": "", "npz": ".npz", "csv": ".csv"}  # form -> end of the file's name; images: a directory
WEIGHTS = {"ema": "ema", "raw": "generator"}  # word on the command line -> role in the state


@dataclass(frozen=True)
class Wish:
    """What to draw. None: a `layout` that fits, the classes in turn, the moving average if there is one."""

    count: int
    seed: int
    form: str  # grid | images | npz | csv
    layout: tuple[int, int] | None
    class_name: str | None
    weights: str | None
    batch_size: int
    reconstruct: Path | None = None  # task aae: examples to encode and decode
    encode: Path | None = None  # task aae: examples to encode
    latent_grid: bool = False  # task aae: decode a grid of points in the plane of codes


class Drawing:
    """Draws from one checkpoint, which carries its spec and the facts of its data: nothing structural is asked of the user."""

    def __init__(self, path: Path, spec: AnySpec, wish: Wish, note: Note = lambda _: None) -> None:
        if isinstance(spec, HistorySpec):
            raise UsageError(f"sample is for generators, this is a checkpoint of task {spec.task}: use gantrain predict")
        if isinstance(spec, Spec) and (wish.reconstruct or wish.encode or wish.latent_grid):
            raise UsageError("--reconstruct, --encode and --latent-grid are for task aae, this is a checkpoint of task gan")
        self._path = path
        self._spec = spec
        self._wish = wish
        self._manifest: Manifest = stored.verify(path)
        data = self._manifest.data
        self._pictures = Pictures(RangeTransform(data.source_range, data.network_range), data.shape, note=note)

    def outputs(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Network outputs [n,*shape] float32 and the classes asked for [n] int64, or None. Raises UsageError, RunError."""
        assert isinstance(self._spec, Spec)
        self._require_memory(self._spec.latent.size)
        labels = self._labels()
        net = build_net(self._spec, "generator", self._manifest.data, role=self._role())
        checkpoint.restore_part(self._path, net.variables, self._role())
        sampler = build_sampler(self._spec, net.model, self._manifest.data, self._wish.batch_size)
        return sampler.draw(self._wish.seed, self._wish.count, labels), labels

    def _require_memory(self, latent_size: int) -> None:
        """UsageError for more than can be drawn at once."""
        shape, wish = self._manifest.data.shape, self._wish
        rows = max(wish.count, wish.batch_size)
        require(4 * rows * (math.prod(shape) + latent_size), f"drawing {rows:,} examples {list(shape)} at once")

    def write(self, out: Path | None) -> list[Path]:
        """Draw and write; the files, in order. Raises UsageError for a form that this data has not."""
        self._check_form()
        target = self._target(out)
        self._check_no_mixing(target)
        outputs, labels = self.outputs()
        with os_errors_explained("write", target):
            (target if self._wish.form == "images" else target.parent).mkdir(parents=True, exist_ok=True)
        return {"grid": self._grid, "images": self._images, "npz": self._npz, "csv": self._csv}[self._wish.form](
            target, outputs, labels
        )

    def default_name(self) -> str:
        """Where it goes without --out: named by run, step and seed, in the current directory."""
        run = self._path.parent.parent.name if self._path.parent.name == "checkpoints" else self._spec.name
        return self._stem(f"{run}-step-{self._manifest.step:08d}") + SUFFIXES[self._wish.form]

    def _stem(self, run: str) -> str:
        return f"{run}-seed-{self._wish.seed}"

    def _target(self, out: Path | None) -> Path:
        target = out or Path(self.default_name())
        if target.suffix != SUFFIXES[self._wish.form] and self._wish.form != "images":
            raise UsageError(
                f"--out {target}: --as {self._wish.form} writes a file whose name ends in {SUFFIXES[self._wish.form]}"
            )
        return target

    def _check_form(self) -> None:
        """UsageError for a form that this data has not; before anything is drawn."""
        form, data = self._wish.form, self._manifest.data
        if form == "csv" and data.table is None:
            raise UsageError("--as csv is for data that came from a table (source csv); use --as npz")
        if form in ("grid", "images") and not self._pictures.drawable:
            other = "npz" if data.table is None else "csv"
            raise UsageError(f"examples of shape {list(data.shape)} are not pictures; use --as {other}")
        if form == "images" and len(data.shape) != 3:
            raise UsageError("single points are no pictures; use --as grid or --as npz")
        if self._wish.layout is not None and len(data.shape) != 3:
            raise UsageError("--grid: points are drawn in one plane, not in a grid; leave --grid out and use --count")

    def _check_no_mixing(self, target: Path) -> None:
        """UsageError for a directory with pictures that would stay beside the new ones; the same files again are replaced."""
        if self._wish.form != "images" or not target.is_dir():
            return
        others = sorted({path.name for path in target.glob("*.png")} - {path.name for path in self._image_paths(target)})
        if others:
            raise UsageError(
                f"--out {target}: holds {len(others):,} other PNG ({others[0]}, ...), which the new ones would be mixed with; "
                "give a new or empty directory"
            )

    def _image_paths(self, target: Path) -> list[Path]:
        width = max(5, len(str(self._wish.count - 1)))
        return [target / f"{index:0{width}d}.png" for index in range(self._wish.count)]

    # ---------------------------------------------------------------- the forms

    def _grid(self, target: Path, outputs: np.ndarray, labels: np.ndarray | None) -> list[Path]:
        del labels
        write_png(target, self.picture(outputs))
        return [target]

    def picture(self, outputs: np.ndarray) -> np.ndarray:
        """A grid (one row per class where the classes come in turn), or a scatter of points, uint8 [H,W,c]."""
        in_turn = self._reads_labels() and self._wish.class_name is None and not self._wish.latent_grid
        return self._pictures.picture(outputs, self._wish.layout, len(self._manifest.data.class_names) if in_turn else None)

    def _images(self, target: Path, outputs: np.ndarray, labels: np.ndarray | None) -> list[Path]:
        del labels
        paths = self._image_paths(target)
        for path, image in zip(paths, self._pictures.levels(outputs), strict=True):
            write_png(path, image)
        return paths

    def _npz(self, target: Path, outputs: np.ndarray, labels: np.ndarray | None) -> list[Path]:
        return self._write_npz(target, self.arrays(outputs, labels))

    def arrays(self, outputs: np.ndarray, labels: np.ndarray | None) -> dict[str, np.ndarray]:
        """What an npz holds besides its facts."""
        return {"samples": self._in_units(outputs), **({} if labels is None else {"labels": labels})}

    def _write_npz(self, target: Path, arrays: dict[str, np.ndarray]) -> list[Path]:
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays, facts=np.array(json.dumps(self._facts())))
        write_atomically(target, buffer.getvalue())
        return [target]

    def _csv(self, target: Path, outputs: np.ndarray, labels: np.ndarray | None) -> list[Path]:
        """The columns of the table that the data came from, in its units and types."""
        table = self._manifest.data.table
        assert table is not None
        names = None if labels is None else [self._manifest.data.class_names[label] for label in labels]
        write_atomically(target, table.to_csv(self._in_units(outputs), names))
        return [target]

    def _in_units(self, outputs: np.ndarray) -> np.ndarray:
        """Values in the units of the data, clipped to its range where it has one; what was uint8 is uint8."""
        transform = self._pictures.transform
        if self._manifest.data.dtype == "uint8":
            return self._pictures.levels(outputs)
        values = transform.inverse(outputs)
        return values if transform.source is None else np.clip(values, *transform.source)

    def _facts(self) -> dict[str, object]:
        facts: dict[str, object] = {"seed": self._wish.seed, "weights": self._role(), "step": self._manifest.step}
        facts["range"] = self._manifest.data.source_range
        if self._wish.batch_size != 64:
            facts["batch_size"] = self._wish.batch_size  # the last bits of the values depend on it
        return facts

    # ---------------------------------------------------------------- what the user asked for

    def _role(self) -> str:
        assert isinstance(self._spec, Spec)
        if self._wish.weights == "ema" and self._spec.training.ema is None:
            raise UsageError("this run has no moving average (training.ema is null); use --weights raw")
        return WEIGHTS[self._wish.weights or ("raw" if self._spec.training.ema is None else "ema")]

    def _reads_labels(self) -> bool:
        return isinstance(self._spec, Spec) and self._spec.generator.uses_labels()

    def _labels(self) -> np.ndarray | None:
        names = self._manifest.data.class_names
        if not self._reads_labels():
            if self._wish.class_name is not None:
                raise UsageError("--class: this generator does not read labels (generator.conditioning is null)")
            return None
        if self._wish.class_name is None:
            return np.arange(self._wish.count, dtype=np.int64) % len(names)
        if self._wish.class_name not in names:
            raise UsageError(f"--class {self._wish.class_name}: no such class; known are: {', '.join(names)}")
        return np.full(self._wish.count, names.index(self._wish.class_name), np.int64)


def find_checkpoint(path: Path, warn: Callable[[str], None]) -> Path:
    """A checkpoint directory if it is whole, or the newest good one of a run directory. Raises RunError if `path` is neither."""
    if not path.is_dir():
        raise RunError(f"there is no run directory or checkpoint {path}; check the path")
    is_run = (path / "checkpoints").is_dir()
    if not is_run and (path.name.startswith("step-") or (path / MANIFEST).exists()):
        stored.verify(path)  # before anything is read from it
        return path
    found = _newest(path / "checkpoints", warn)
    if found is None:
        raise RunError(
            f"{path} has no checkpoint; give a run directory that `gantrain fit` made, or one of its checkpoints/step-*"
        )
    return found[0]


def _newest(folder: Path, warn: Callable[[str], None]) -> tuple[Path, Manifest] | None:
    """As `latest_good`, beside a `fit` that goes on deleting old checkpoints: what changed meanwhile is looked at again."""
    while True:
        before, warnings = stored.all_checkpoints(folder), list[str]()
        try:
            found = stored.latest_good(folder, warnings.append)
        except RunError:
            if stored.all_checkpoints(folder) != before:
                continue
            for warning in warnings:
                warn(warning)
            raise
        for warning in warnings:
            warn(warning)
        return found


def draw_from(path: Path, warn: Callable[[str], None], draw: Callable[[Path], list[Path]]) -> list[Path]:
    """Call `draw` with the checkpoint that `path` means, and again if a running `fit` replaced it meanwhile. Raises RunError."""
    chosen = find_checkpoint(path, warn)
    while True:
        try:
            return draw(chosen)
        except (RunError, UsageError):
            newer = find_checkpoint(path, warn)
            if newer == chosen:
                raise
            chosen = newer
