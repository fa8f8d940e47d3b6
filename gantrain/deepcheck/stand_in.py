"""Made-up examples in the place of data that cannot be read, so that the nets are judged all the same."""

from __future__ import annotations

import numpy as np

from gantrain.data.pairing import Pairing
from gantrain.errors import DataError
from gantrain.interfaces import Range, SourceFacts
from gantrain.spec.history import HistorySpec
from gantrain.spec.tasks import AnySpec

LENGTH = 100_000  # more than any batch
CLASSES = 10  # of labels where only the data knows how many there are


class StandIn:
    """A source of random pictures or vectors of the declared shape."""

    def __init__(self, shape: tuple[int, ...], num_classes: int | None, bounded: bool, target_size: int | None = None) -> None:
        self.shape = shape
        self.length = LENGTH
        self.pairing = None if target_size is None else Pairing(np.ones([LENGTH, target_size], np.float32))
        self.value_range: Range | None = (0.0, 255.0) if bounded else None
        self.labels: np.ndarray | None = None if num_classes is None else np.arange(self.length, dtype=np.int64) % num_classes
        self.class_names: tuple[str, ...] = tuple(str(number) for number in range(num_classes or 0))
        self.in_memory: np.ndarray | None = None

    def load(self, indices: np.ndarray) -> np.ndarray:
        """[n,*shape]: uint8, or float32 for unbounded vectors."""
        random = np.random.default_rng(int(indices[0]) if len(indices) else 0)
        if self.value_range is None:
            return random.normal(size=(len(indices), *self.shape)).astype(np.float32)
        return random.integers(0, 256, (len(indices), *self.shape), dtype=np.uint8)

    def fingerprint(self) -> str:
        """Of nothing."""
        return "made-up"


def stand_in(spec: AnySpec, facts: SourceFacts | None) -> StandIn:
    """For the shape that facts or the source's settings declare. Raises DataError where nothing declares one."""
    source = spec.data.source
    sides = [getattr(source, key, None) for key in ("height", "width", "channels")]
    shape = facts.shape if facts and facts.shape else tuple(int(side) for side in sides if side)
    if not shape or (len(shape) != 3 and not (facts and facts.shape)):
        raise DataError("the nets cannot be judged without the data: nothing else tells the shape of an example")
    classes = ((facts.num_classes if facts else None) or CLASSES) if spec.uses_labels else None
    return StandIn(shape, classes, spec.data.range is not None, _target_size(spec, facts))


def _target_size(spec: AnySpec, facts: SourceFacts | None) -> int | None:
    """As declared, or one that the loss takes; None for tasks without targets."""
    if not isinstance(spec, HistorySpec):
        return None
    return (facts.target_size if facts else None) or min(spec.objective.loss.target_sizes(spec.window) or (1,))
