"""Write the packaged digits from scikit-learn's copy of the UCI set.

Usage: python scripts/make_digits.py        (in an environment with scikit-learn; gantrain itself does not need it)
The original values are 0..16; they are stored as uint8 0..255 by round(v * 255 / 16).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from _npz import write_npz
from sklearn.datasets import load_digits

TARGET = Path(__file__).parents[1] / "gantrain" / "data" / "files" / "digits.npz"


def main() -> None:
    """Write the file and say how large it became."""
    digits = load_digits()
    images = np.rint(digits.images * 255 / 16).astype(np.uint8)[..., np.newaxis]
    write_npz(TARGET, {"images": images, "labels": digits.target.astype(np.uint8)})
    print(f"{TARGET}: {images.shape}, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
