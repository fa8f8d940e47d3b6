"""Where each key and value of a tree was written."""

from __future__ import annotations

from dataclasses import dataclass, field

from gantrain.spec.problems import Place, SpecPath


@dataclass
class Positions:
    """`values` and `keys`: path -> place. What is not listed is looked up at its nearest listed parent."""

    file: str
    values: dict[SpecPath, Place] = field(default_factory=dict[SpecPath, Place])
    keys: dict[SpecPath, Place] = field(default_factory=dict[SpecPath, Place])

    def of_value(self, path: SpecPath) -> Place:
        """Place of the value at `path`, or of the nearest parent that was written."""
        return self._nearest(path, self.values, self.keys)

    def of_cause(self, path: SpecPath) -> Place:
        """Place of what is at `path`, or of a `--set` that changed something inside of it: the likelier cause."""
        inside = (place for known, place in self.values.items() if path and known[: len(path)] == path and place.line is None)
        return next(inside, self.of_value(path))

    def of_key(self, path: SpecPath) -> Place:
        """Place of the key that `path` ends with, or of the nearest parent that was written."""
        return self._nearest(path, self.keys, self.values)

    def _nearest(self, path: SpecPath, first: dict[SpecPath, Place], second: dict[SpecPath, Place]) -> Place:
        for end in range(len(path), -1, -1):
            place = first.get(path[:end]) or second.get(path[:end])
            if place is not None:
                return place
            first, second = self.keys, self.values  # a missing key is shown where its mapping is named
        return Place(self.file, 1, 1)

    def replace(self, path: SpecPath, place: Place) -> None:
        """Everything at and under `path` now comes from `place`."""
        for table in (self.values, self.keys):
            for known in [known for known in table if known[: len(path)] == path]:
                del table[known]
        self.values[path] = self.keys[path] = place
