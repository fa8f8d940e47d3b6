"""A picture, or a folder of pictures, for a trained network, brought to the form it was trained on (free of TensorFlow)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gantrain.data.catalog import ImageFolder
from gantrain.data.decode import decode
from gantrain.data.framing import Frame
from gantrain.data.image_folder import build
from gantrain.errors import DataError
from gantrain.interfaces import Range, SourceSettings

OF_CONFIG = (", or write on_bad_file: skip", " or correct data.source.path")  # in words of image_folder
PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff"})


def are_pictures(path: Path) -> bool:
    """Whether a path is to be read as pictures: a folder, or a file with the name of one."""
    return path.is_dir() or path.suffix.lower() in PICTURES


def read_pictures(path: Path, source: SourceSettings, shape: tuple[int, ...], value_range: Range | None) -> np.ndarray:
    """Pictures [n,*shape] float32 in the units of the source, whose values lie in `value_range`; in the order of their names.

    They are framed as those of an `image_folder` that was trained on, else cropped to the wanted sides. Raises DataError.
    """
    if len(shape) != 3 or shape[2] not in (1, 3, 4) or value_range is None:
        raise DataError(f"{path}: this run was trained on numbers {list(shape)}, not on pictures; give a .npy, .npz or .csv file")
    settings = _settings(path, source, shape)
    pictures = _read_folder(settings) if path.is_dir() else decode(path, Frame.of(settings))[None]
    low, high = value_range
    return low + (high - low) / 255.0 * pictures.astype(np.float32)


def _read_folder(settings: ImageFolder) -> np.ndarray:
    """Every picture. What a source says of its settings is left out of its errors: here is no config to correct."""
    try:
        folder = build(settings, Path())
        return folder.load(np.arange(folder.length))
    except DataError as error:
        words = str(error)
        for of_config in OF_CONFIG:
            words = words.replace(of_config, "")
        raise DataError(words) from error


def _settings(path: Path, source: SourceSettings, shape: tuple[int, ...]) -> ImageFolder:
    if isinstance(source, ImageFolder):
        return source.model_copy(update={"path": str(path), "labels": None, "on_bad_file": "error"})
    height, width, channels = shape
    return ImageFolder.model_validate({"path": str(path), "height": height, "width": width, "channels": channels})
