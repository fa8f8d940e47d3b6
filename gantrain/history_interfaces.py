"""What the components of task `history` are; the rest of a newcomer's page is interfaces.py.

Shapes are in brackets: B batch, D numbers of an output, K outputs in a window, T numbers of a target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from gantrain.interfaces import NetSettings, Settings, Tensor


class ModelSettings(NetSettings):
    """Builder: (settings, NetContext) -> Keras model: (inputs [B,*shape], training) -> outputs [B,D] float32."""

    def output_size(self) -> int:
        """D, the numbers of one output."""
        raise NotImplementedError


@dataclass(frozen=True)
class WindowContext:
    """What a loss on the last outputs must fit: Z holds `length` outputs of `size` numbers, newest first."""

    length: int
    size: int


WindowLoss: TypeAlias = Callable[[Tensor, Tensor], Tensor]  # (Z [B,length*size], target [B,T]) -> [B] float32, one per example


class WindowLossSettings(Settings):
    """Builder: (settings, WindowContext) -> WindowLoss. It must be finite, with its gradient, at Z = 0."""

    def target_sizes(self, context: WindowContext) -> tuple[int, ...] | None:  # noqa: ARG002  most fix it
        """How many numbers a target may have; None: any."""
        return None

    def least_length(self) -> int:
        """Outputs that Z must hold at least."""
        return 1
