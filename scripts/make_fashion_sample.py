"""Cut the packaged Fashion-MNIST sample out of the complete set (60,000 + 10,000 pictures).

Usage: python scripts/make_fashion_sample.py FOLDER
FOLDER holds the four idx .gz files; Debian's package `dataset-fashion-mnist` installs them in /usr/share/datasets/fashion-mnist.
Of each class the sample takes the first 400 training pictures and the first 100 test pictures, in the order of the files.
Running it twice writes the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path

import numpy as np
from _npz import write_npz

# Of the decompressed files: a distribution may compress them again, which changes the hash of the .gz.
SHA256 = {
    "train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "t10k-images-idx3-ubyte": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "t10k-labels-idx1-ubyte": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}
TARGET = Path(__file__).parents[1] / "gantrain" / "data" / "files" / "fashion_sample.npz"


def read_idx(folder: Path, name: str) -> np.ndarray:
    """The array in one idx file [N,28,28] or [N], after checking its hash."""
    content = gzip.decompress((folder / f"{name}.gz").read_bytes())
    if hashlib.sha256(content).hexdigest() != SHA256[name]:
        raise SystemExit(f"{name}.gz in {folder} is not the known file; get it from Debian's package dataset-fashion-mnist")
    rank = content[3]  # idx header: 0, 0, dtype, rank, then one big-endian size per axis
    sizes = np.frombuffer(content, ">u4", rank, 4)
    return np.frombuffer(content, np.uint8, -1, 4 + 4 * rank).reshape(sizes)


def balanced(labels: np.ndarray, per_class: int) -> np.ndarray:
    """Sorted indices of the first `per_class` examples of each class."""
    return np.sort(np.concatenate([np.flatnonzero(labels == label)[:per_class] for label in range(10)]))


def cut(folder: Path, prefix: str, per_class: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures [10*per_class,28,28,1] uint8 and labels [10*per_class] uint8 of one split."""
    images, labels = read_idx(folder, f"{prefix}-images-idx3-ubyte"), read_idx(folder, f"{prefix}-labels-idx1-ubyte")
    chosen = balanced(labels, per_class)
    return images[chosen][..., np.newaxis], labels[chosen]


def main() -> None:
    """Write the sample and say how large it became."""
    folder = Path(sys.argv[1])
    train_images, train_labels = cut(folder, "train", 400)
    test_images, test_labels = cut(folder, "t10k", 100)
    arrays = {"train_images": train_images, "train_labels": train_labels, "test_images": test_images, "test_labels": test_labels}
    write_npz(TARGET, arrays)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
