"""What the headers of .npy and .npz files say, and whether gantrain can use it (free of TensorFlow)."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from gantrain.data.pairing import Pairing, numbered, paired
from gantrain.data.room import check_fits, check_regular
from gantrain.data.words import counted
from gantrain.errors import DataError
from gantrain.interfaces import Range, SourceFacts

if TYPE_CHECKING:
    from gantrain.data.catalog import Arrays

SPANNED_VALUES = 2**21  # looked at for a message
NPY_MAGIC, ZIP_MAGIC = b"\x93NUMPY", b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"


@dataclass(frozen=True)
class Places:
    """Where the examples and labels are: files, and the names inside an npz."""

    path: Path
    key: str | None
    labels_path: Path | None
    labels_key: str | None
    targets_key: str | None = None
    sequence_key: str | None = None

    @staticmethod
    def of(settings: Arrays, base_dir: Path) -> Places:
        """Absolute places of settings whose paths are relative to `base_dir`."""
        labels_path = None if settings.labels is None else base_dir / Path(settings.labels).expanduser()
        path = base_dir / Path(settings.path).expanduser()
        return Places(path, settings.key, labels_path, settings.labels_key, settings.targets_key, settings.sequence_key)

    def of_examples(self) -> Header:
        """Header of the examples. Raises DataError."""
        return read(self.path, self.key, (self.labels_key, self.targets_key, self.sequence_key))


@dataclass(frozen=True)
class Header:
    """Dtype and shape of one array in `path`, and its name inside if that is an npz."""

    path: Path
    key: str | None
    dtype: np.dtype
    shape: tuple[int, ...]

    @property
    def place(self) -> str:
        """For messages: the file, and the array inside."""
        return f"{self.path}" if self.key is None else f"array {self.key!r} of {self.path}"

    def example_shape(self) -> tuple[int, ...]:
        """Shape of one example: (D,) or (H,W,C); C = 1 is added to [N,H,W]."""
        return (*self.shape[1:], 1) if len(self.shape) == 3 else self.shape[1:]


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what NumPy and zipfile raise for a damaged file into a DataError with the file's name."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # ValueError, EOFError, BadZipFile, zlib.error, OSError, SyntaxError ...
        raise DataError(
            f"{path} cannot be read ({error}); it is damaged or cut off: write it again with numpy.save or numpy.savez"
        ) from error


def facts(places: Places, value_range: Range | None) -> SourceFacts:
    """Facts of the `arrays` source."""
    header = places.of_examples()
    check(header, value_range)
    labels, pairing = read_labels(places, header.shape[0]), read_pairing(places, header.shape[0])
    bounded = value_range is not None or header.dtype == np.uint8
    classes = None if labels is None else int(labels.max()) + 1
    shape, length = header.example_shape(), header.shape[0]
    if pairing is None:
        return SourceFacts(shape, length, classes, bounded=bounded)
    return SourceFacts(shape, length, classes, bounded=bounded, target_size=pairing.size, longest_sequence=pairing.longest)


def read(path: Path, key: str | None, others: Collection[str | None] = ()) -> Header:
    """Header of the array `key` (None: the only one besides `others`). Judges the format by the content, not by the suffix."""
    if not path.exists():
        raise DataError(f"file {path} does not exist; correct data.source (relative paths start at the config file's folder)")
    if path.is_dir():
        raise DataError(f"{path} is a folder, arrays needs a .npy or .npz file; for pictures in a folder use image_folder")
    check_regular(path)
    with readable(path), path.open("rb") as file:
        magic = file.read(6)
        file.seek(0)
        if magic == NPY_MAGIC:
            return _read_npy(path, key, file)
        if magic[:4] in (ZIP_MAGIC, EMPTY_ZIP):
            return _read_npz(path, key, others)
    raise DataError(f"{path} is neither a .npy nor a .npz file; write it with numpy.save or numpy.savez")


def _read_npy(path: Path, key: str | None, file: IO[bytes]) -> Header:
    if key is not None:
        raise DataError(f"{path} is a .npy file, it has no array named {key!r}; leave the key out")
    return Header(path, None, *_header(file))


def _read_npz(path: Path, key: str | None, others: Collection[str | None]) -> Header:
    with zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        name = key if key is not None else _only(path, [name for name in names if name not in others])
        if name not in names:
            raise DataError(f"{path} has no array named {name!r}; it holds {', '.join(names)}")
        with archive.open(f"{name}.npy") as file:
            return Header(path, name, *_header(file))


def _only(path: Path, names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    if not names:
        raise DataError(f"{path} holds no arrays besides those that are named; write it again with numpy.savez")
    raise DataError(
        f"{path} holds {len(names)} arrays besides those that are named ({', '.join(names)}); name one with data.source.key"
    )


def _header(file: IO[bytes]) -> tuple[np.dtype, tuple[int, ...]]:
    version = np.lib.format.read_magic(file)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = reader(file)
    return dtype, shape


def check(header: Header, value_range: Range | None) -> None:
    """DataError unless shape and dtype are those of pictures or vectors gantrain understands."""
    refuse_pickles(header)
    _check_shape(header)
    _check_dtype(header, value_range)


def _check_shape(header: Header) -> None:
    shape = header.shape
    if len(shape) not in (2, 3, 4):
        raise DataError(f"{header.place} has shape {shape}; wanted are pictures [N,H,W] or [N,H,W,C], or vectors [N,D]")
    if 0 in shape:
        raise DataError(f"{header.place} has shape {shape}: there is nothing in it")
    if len(shape) == 4 and shape[1] in (1, 3, 4) and shape[3] > 4:
        raise DataError(f"{header.place} has shape {shape}, channels first; write numpy.transpose(x, (0, 2, 3, 1)) for [N,H,W,C]")


def _check_dtype(header: Header, value_range: Range | None) -> None:
    dtype, place = header.dtype, header.place
    if dtype.kind not in "uif":
        raise DataError(f"{place} has dtype {dtype}; convert it to uint8 (pictures 0..255) or float32 before saving")
    if dtype.kind in "ui" and dtype != np.uint8 and value_range is None:
        raise DataError(
            f"{place} has dtype {dtype}, {_span(header)}; make it uint8, or declare data.source.value_range: [lowest, highest]"
        )
    if dtype.kind == "f" and len(header.shape) > 2 and value_range is None:
        raise DataError(
            f"{place} holds {dtype} pictures, {_span(header)}; declare data.source.value_range, such as [0, 1] or [-1, 1]"
        )


def refuse_pickles(header: Header) -> None:
    """DataError for an array of Python objects."""
    if header.dtype.hasobject:
        raise DataError(
            f"{header.place} holds Python objects (a pickle), which are never loaded; save one plain array: numpy.stack(list)"
        )


def _span(header: Header) -> str:
    """Lowest and highest value of the first examples, for a user who must declare the range."""
    count = max(1, SPANNED_VALUES // max(1, int(np.prod(header.shape[1:]))))
    part = np.asarray(load(header)[:count]).astype(np.float64)
    finite = part[np.isfinite(part)]
    which = "its values" if count >= header.shape[0] else f"the first {counted(count, 'example')}"
    return f"{which} go from {finite.min():g} to {finite.max():g}" if finite.size else f"{which} are all NaN or infinite"


def read_labels(places: Places, length: int) -> np.ndarray | None:
    """Class numbers [N] int64, or None. DataError unless they are whole numbers from 0, one per example."""
    if places.labels_path is None and places.labels_key is None:
        return None
    header = read(places.labels_path or places.path, places.labels_key)
    if len(header.shape) == 2 and header.shape[0] == length and header.shape[1] > 1:
        raise DataError(
            f"labels in {header.place} are rows of {header.shape[1]} numbers (one-hot or multi-hot), gantrain wants one class "
            "number per example; for one-hot rows write numpy.argmax(y, axis=1), several classes per example are not supported"
        )
    refuse_pickles(header)
    if header.dtype.kind not in "ui" or header.shape not in ((length,), (length, 1)):
        raise DataError(
            f"labels in {header.place} are {header.dtype} {header.shape}; wanted are whole numbers of shape ({length},), "
            "such as numpy.unique(y, return_inverse=True)[1]"
        )
    labels = load(header).astype(np.int64).reshape(length)
    if labels.min() < 0:
        raise DataError(f"labels in {header.place} go down to {labels.min()}; classes are numbered from 0")
    return labels


def read_pairing(places: Places, length: int) -> Pairing | None:
    """Targets and sequences, or None. Raises DataError unless there is one of each per example."""
    if places.targets_key is None:
        return None
    header = read(places.path, places.targets_key)
    refuse_pickles(header)
    ids = None if places.sequence_key is None else read_ids(places.path, places.sequence_key, length)
    return paired(load(header), ids, length, header.place)


def read_ids(path: Path, key: str | None, length: int) -> np.ndarray:
    """Numbers of the sequences of `length` examples, [N] int64, equal for equal names. Raises DataError."""
    header = read(path, key)
    refuse_pickles(header)
    if header.dtype.kind not in "uiUS" or header.shape != (length,):
        raise DataError(
            f"{header.place} is {header.dtype} {header.shape}; the sequences of examples are whole numbers or text, ({length},)"
        )
    return numbered(load(header))


def names_in(path: Path) -> list[str]:
    """Names of the arrays in an npz; none for a npy. Raises DataError."""
    with readable(path), path.open("rb") as file:
        is_npz = file.read(4) == ZIP_MAGIC
        return _array_names(zipfile.ZipFile(path)) if is_npz else []


def _array_names(archive: zipfile.ZipFile) -> list[str]:
    with archive:
        return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def load(header: Header) -> np.ndarray:
    """The array itself: memory-mapped from a .npy, read into memory from a .npz."""
    with readable(header.path):
        if header.key is None:
            return np.load(header.path, mmap_mode="r", allow_pickle=False)
        size = math.prod(header.shape) * header.dtype.itemsize
        check_fits(size, f"array {header.key!r} of {header.path}", "save it with numpy.save: a .npy is read as it is needed")
        with np.load(header.path, allow_pickle=False) as archive:
            return archive[header.key]
