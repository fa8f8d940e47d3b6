"""Keys of random draws: a pure function of (seed, attempt, stream, step), free of TensorFlow.

Every draw of a run is stateless: equal keys give equal numbers, interrupted or not. A stream is a word for what is drawn
("latents", "labels", ...), so that two uses never share numbers.
"""

from __future__ import annotations

import hashlib

_MASK = (1 << 63) - 1  # TensorFlow's stateless seeds are int64; we stay with its non-negative half


def stream_key(seed: int, stream: str, attempt: int = 0) -> int:
    """First half of a stateless seed: 63 bits of SHA-256 over the three parts."""
    digest = hashlib.sha256(f"{seed}/{attempt}/{stream}".encode()).digest()
    return int.from_bytes(digest[:8], "big") & _MASK


def short_seed(seed: int, stream: str) -> int:
    """A 31-bit seed for libraries that take no more (Keras, NumPy)."""
    return stream_key(seed, stream) & 0x7FFFFFFF
