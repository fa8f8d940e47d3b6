"""One update of a step by itself: what checks judge. A step of any task gives a list of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.training.fakes import Batch
from gantrain.training.update import Update


@dataclass(frozen=True)
class Trial:
    """`compute` (batch, step number) gives the loss and the gradient as `Update.run` takes them, one per variable or None.

    Forwards move statistics as in the step: those of the nets named in `moves`, and where it is said `once`, exactly once per
    step. Nothing else moves until `update.run`.
    """

    update: Update
    compute: Callable[[Batch, Tensor], tuple[Tensor, list[Tensor | None]]]
    moves: tuple[str, ...]
    once: bool = True
    setting: str = "loss"  # under `objective`: what its loss is made of

    @property
    def role(self) -> str:
        """Of the update, and of its loss."""
        return self.update.role

    @property
    def variables(self) -> dict[str, tf.Variable]:
        """What the update may move, key -> variable."""
        return dict(zip(self.update.keys, self.update.variables, strict=True))

    def unscaled(self, gradient: Tensor) -> Tensor:
        """A gradient without the factor that protects it from float16."""
        return tf.cast(gradient, tf.float32) / tf.cast(self.update.scale, tf.float32)
