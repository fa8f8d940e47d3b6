"""Sets that keras.datasets downloaded before, read without Keras: `get_file` downloads, and deletes what it cannot verify."""

from __future__ import annotations

import io
import os
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gantrain.data import idx
from gantrain.data.catalog import FASHION_CLASSES
from gantrain.data.file_settings import Idx
from gantrain.data.file_settings import KerasCache as Settings
from gantrain.data.headers import readable
from gantrain.data.memory import MemorySource
from gantrain.data.words import counted
from gantrain.errors import DataError
from gantrain.interfaces import SourceFacts

SHAPES = {"mnist": (28, 28, 1), "fashion_mnist": (28, 28, 1), "cifar10": (32, 32, 3), "cifar100": (32, 32, 3)}
LENGTHS = {"mnist": (60000, 10000), "fashion_mnist": (60000, 10000), "cifar10": (50000, 10000), "cifar100": (50000, 10000)}
CLASSES = {"mnist": 10, "fashion_mnist": 10, "cifar10": 10, "cifar100": 100}
CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CIFAR_PARTS = {
    ("cifar10", "train"): tuple(f"data_batch_{number}" for number in range(1, 6)),
    ("cifar10", "test"): ("test_batch",),
    ("cifar100", "train"): ("train",),
    ("cifar100", "test"): ("test",),
}
CIFAR_NAMES = {"cifar10": "cifar-10-batches-py", "cifar100": "cifar-100-python"}
HARMLESS = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}
LARGEST_PART = 2**29  # bytes of one file inside an archive


def facts(settings: Settings, base_dir: Path) -> SourceFacts:
    """Known figures. Raises DataError that says where it looked if the files are not there."""
    _place(settings, base_dir)
    length = LENGTHS[settings.dataset][settings.split == "test"]
    return SourceFacts(SHAPES[settings.dataset], length, CLASSES[settings.dataset], bounded=True)


def build(settings: Settings, base_dir: Path) -> MemorySource:
    """Read the set into memory. Raises DataError that names the file."""
    place = _place(settings, base_dir)
    readers: dict[str, Callable[[Settings, Path], tuple[np.ndarray, np.ndarray]]] = {"mnist": _mnist, "fashion_mnist": _fashion}
    pictures, labels = readers.get(settings.dataset, _cifar)(settings, place)
    shape, count = SHAPES[settings.dataset], LENGTHS[settings.dataset][settings.split == "test"]
    pictures = np.ascontiguousarray(pictures).reshape(-1, *shape)
    if pictures.dtype != np.uint8 or len(pictures) != count or len(labels) != count:
        raise DataError(
            f"{place} holds {pictures.dtype} {pictures.shape} and {counted(len(labels), 'label')}; {settings.dataset} has "
            f"{count:,} pictures of {shape}: it is another file; move it away and let Keras download it again"
        )
    return MemorySource(pictures, (0.0, 255.0), labels.astype(np.int64), _class_names(settings, place))


def _root(settings: Settings, base_dir: Path) -> Path:
    if settings.path is not None:
        return base_dir / Path(settings.path).expanduser()
    home = os.environ.get("KERAS_HOME")
    return (Path(home) if home else Path.home() / ".keras") / "datasets"


def _place(settings: Settings, base_dir: Path) -> Path:
    """The file or folder that holds the set."""
    root, name = _root(settings, base_dir), CIFAR_NAMES.get(settings.dataset, "")
    places = {"mnist": ["mnist.npz"], "fashion_mnist": ["fashion-mnist"]}.get(
        settings.dataset,
        [f"{name}-target/{name}", name, f"{name}-target_archive", f"{name}.tar.gz", f"{name}-target.tar.gz", f"{name}-target"],
    )
    for place in places:
        if (root / place).exists() and (place != f"{name}-target" or (root / place).is_file()):
            return root / place
    raise DataError(
        f"{settings.dataset} is not in {root} (looked for {', '.join(places)}); gantrain never downloads: run "
        f"python -c 'import keras; keras.datasets.{settings.dataset}.load_data()' once, or give the folder as data.source.path"
    )


def _mnist(settings: Settings, place: Path) -> tuple[np.ndarray, np.ndarray]:
    with readable(place), place.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        return archive[f"x_{settings.split}"], archive[f"y_{settings.split}"]


def _fashion(settings: Settings, place: Path) -> tuple[np.ndarray, np.ndarray]:
    part = "train" if settings.split == "train" else "t10k"
    files = Idx(path=f"{part}-images-idx3-ubyte.gz", labels=f"{part}-labels-idx1-ubyte.gz")
    source = idx.build(files, place)
    return source.load(np.arange(source.length)), np.asarray(source.labels)


def _cifar(settings: Settings, place: Path) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 3072 bytes: 1024 red, 1024 green, 1024 blue."""
    parts = [_unpickled(place, name) for name in CIFAR_PARTS[settings.dataset, settings.split]]
    key = b"labels" if settings.dataset == "cifar10" else b"fine_labels"
    with readable(place):
        rows = np.concatenate([np.asarray(part[b"data"], np.uint8).reshape(-1, 3, 32, 32) for part in parts])
        return rows.transpose(0, 2, 3, 1), np.concatenate([np.asarray(part[key], np.int64) for part in parts])


def _class_names(settings: Settings, place: Path) -> tuple[str, ...]:
    if settings.dataset == "cifar10":
        return CIFAR10_CLASSES
    if settings.dataset == "fashion_mnist":
        return FASHION_CLASSES
    if settings.dataset == "cifar100":
        return tuple(name.decode() for name in _unpickled(place, "meta")[b"fine_label_names"])
    return tuple(str(digit) for digit in range(10))


def _unpickled(place: Path, name: str) -> dict[Any, Any]:
    """One file of the set, from the folder or from the archive, as plain data only."""
    with readable(place):
        content = (place / name).read_bytes() if place.is_dir() else _member(place, name)
        return _PlainUnpickler(io.BytesIO(content), encoding="bytes").load()


def _member(place: Path, name: str) -> bytes:
    with tarfile.open(place, "r:*") as archive:
        for member in archive:
            if member.isfile() and member.name.rpartition("/")[2] == name and member.size <= LARGEST_PART:
                file = archive.extractfile(member)
                return file.read() if file else b""
    raise DataError(f"{place} holds no file {name}; it is another archive, or cut off: move it away and download it again")


class _PlainUnpickler(pickle.Unpickler):
    """Arrays, lists and text; a pickle can run any code, this one none."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Only what NumPy arrays are made of."""
        if (module_name, global_name) not in HARMLESS:
            raise DataError(f"the file wants to run {module_name}.{global_name}, which no data set needs; it is not trusted")
        return super().find_class(module_name.replace("numpy.core", "numpy._core"), global_name)
