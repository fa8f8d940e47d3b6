"""The two sets that come with the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gantrain.data.catalog import FASHION_CLASSES, Digits, FashionSample
from gantrain.data.memory import MemorySource
from gantrain.errors import DataError

FILES = Path(__file__).parent / "files"


def fashion_sample(settings: FashionSample, base_dir: Path) -> MemorySource:  # noqa: ARG001
    """Fashion-MNIST, 28x28x1 uint8: 4,000 training or 1,000 test pictures, equally many per class."""
    images, labels = _read("fashion_sample.npz", f"{settings.split}_images", f"{settings.split}_labels")
    return MemorySource(images, (0.0, 255.0), labels, FASHION_CLASSES)


def digits(settings: Digits, base_dir: Path) -> MemorySource:  # noqa: ARG001
    """UCI digits, 8x8x1 uint8. The original values 0..16 are stored as round(v * 255 / 16)."""
    images, labels = _read("digits.npz", "images", "labels")
    return MemorySource(images, (0.0, 255.0), labels, tuple(str(digit) for digit in range(10)))


def _read(name: str, images: str, labels: str) -> tuple[np.ndarray, np.ndarray]:
    path = FILES / name
    try:
        with np.load(path, allow_pickle=False) as archive:
            return archive[images], archive[labels].astype(np.int64)
    except Exception as error:  # NumPy and zipfile raise many kinds for a damaged file
        raise DataError(f"{path}, a part of gantrain, cannot be read ({error}); install gantrain again") from error
