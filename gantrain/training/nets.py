"""A network as the step sees it: the model, the variables its update owns, and its moving statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import keras
import tensorflow as tf

from gantrain.errors import WiringError
from gantrain.state import net_variables, trainable_variables
from gantrain.training.ema import STATISTICS

# States that a training-mode forward moves and that must not move in a pass that serves another net or a penalty.
KEPT = (*STATISTICS, "singular_vector")

T = TypeVar("T")


@dataclass(frozen=True)
class Net:
    """`variables`: everything a checkpoint saves; `trainable`: what this net's update may move. Both in the net's order."""

    role: str
    model: keras.Model
    variables: Mapping[str, tf.Variable]
    trainable: Mapping[str, tf.Variable]

    @classmethod
    def of(cls, role: str, model: keras.Model) -> Net:
        """Collect a built model's variables under stable keys."""
        return cls(role, model, net_variables(role, model), trainable_variables(role, model))

    @property
    def statistics(self) -> list[tf.Variable]:
        """Moving means and variances of normalisation layers, and the singular vectors of spectral ones."""
        return [variable for key, variable in self.variables.items() if key.endswith(KEPT)]

    def keeping_statistics(self, forward: Callable[[], T]) -> T:
        """Run a training-mode forward that must not move the statistics: they are put back after it."""
        before = [tf.identity(variable) for variable in self.statistics]
        result = forward()
        for variable, value in zip(self.statistics, before, strict=True):
            variable.assign(value)
        return result


def own_parameters(nets: list[Net]) -> None:
    """Every trainable variable belongs to exactly one net.

    Raises WiringError that names the shared variables.
    """
    owner: dict[int, str] = {}
    for net in nets:
        for key, variable in net.trainable.items():
            other = owner.setdefault(id(variable), key)
            if other != key:
                raise WiringError(
                    "variable-shared", net.role,
                    f"{key} and {other} are one variable, so two updates would pull at it; each net must own its parameters: "
                    "build a layer of its own for each",
                )  # fmt: skip
