"""The plain loop that people write: one example after the other, a deque of outputs, in NumPy. Value and gradient of the loss.

A window is a list of (index of the example in this batch, or None for one of an earlier batch; its output).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Plain:
    """One model for the loss (Z . Z)^2 / 2 + target . Z, whose gradient is 2 (Z . Z) Z + target: every number of Z matters."""

    length: int
    size: int
    unit: str
    gradient: str
    start: str
    seen: dict = field(default_factory=dict)  # where -> deque of (batch number, index, output), newest first
    last: dict = field(default_factory=dict)  # where -> sequence
    batch_number: int = 0
    counted: list = field(default_factory=list)  # of the last batch: whether each example has a part in the loss

    def batch(self, outputs: np.ndarray, sequence: np.ndarray, target: np.ndarray):
        """(Z [b,K*D], loss, gradient of the loss by the outputs [b,D])."""
        rows, windows = [], []
        for index, output in enumerate(outputs):
            where = index if self.unit == "batch" else 0
            history = self.seen.setdefault(where, deque(maxlen=self.length))
            if self.last.get(where) != sequence[index]:
                history.clear()
            self.last[where] = sequence[index]
            history.appendleft((self.batch_number, index, output.copy()))
            windows.append(list(history))
            missing = [np.zeros(self.size)] * (self.length - len(history))
            rows.append(np.concatenate([*(item[2] for item in history), *missing]))
        z = np.array(rows)
        loss, gradient = self._judge(z, windows, outputs, target)
        self.batch_number += 1
        return z, loss, gradient

    def _judge(self, z, windows, outputs, target):
        gradient, total = np.zeros_like(outputs), 0.0
        counted = self.counted = [len(window) == self.length or self.start == "zeros" for window in windows]
        for row in range(len(outputs)):
            if not counted[row]:
                continue
            squared = z[row] @ z[row]
            total += squared**2 / 2 + target[row] @ z[row]
            by_z = (2 * squared * z[row] + target[row]).reshape(self.length, self.size)
            for place, (number, index, _) in enumerate(windows[row]):
                if place == 0 or (self.gradient == "window" and number == self.batch_number):
                    gradient[index] += by_z[place]
        share = max(sum(counted), 1)
        return total / share, gradient / share
