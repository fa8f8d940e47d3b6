"""Losses on the last K outputs of a network: settings, facts and names; part of the catalog (free of TensorFlow)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gantrain.history_interfaces import WindowContext, WindowLossSettings
from gantrain.registry import register


@register("window_loss", "norm_mse", build="gantrain.objectives.window_losses:build_norm_mse")
class NormMse(WindowLossSettings):
    """Squared distance of the norm of Z to the target, one number per example."""

    def target_sizes(self, context: WindowContext) -> tuple[int, ...]:  # noqa: ARG002
        """One number."""
        return (1,)


@register("window_loss", "mse", build="gantrain.objectives.window_losses:build_mse")
class Mse(WindowLossSettings):
    """Mean squared distance of Z to a target of K*D numbers, or of each of its outputs to one of D."""

    def target_sizes(self, context: WindowContext) -> tuple[int, ...]:
        """The size of Z, or of one output."""
        return tuple(dict.fromkeys((context.length * context.size, context.size)))


@register("window_loss", "smoothness", build="gantrain.objectives.window_losses:build_smoothness")
class Smoothness(WindowLossSettings):
    """Mean squared change from each output of Z to the next; alone it does not read the target."""

    fit: Annotated[float, Field(ge=0)] = 0.0  # factor of the mean squared distance of the newest output to the target

    def target_sizes(self, context: WindowContext) -> tuple[int, ...] | None:
        """Any, or the size of one output."""
        return (context.size,) if self.fit else None

    def least_length(self) -> int:
        """A change needs two outputs."""
        return 2
