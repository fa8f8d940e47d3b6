"""Priors with a shape in the plane: settings, facts and names (free of TensorFlow)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gantrain.interfaces import PriorSettings
from gantrain.registry import register

Length = Annotated[float, Field(gt=0)]
Spread = Annotated[float, Field(ge=0)]


@register("prior", "gaussian_mixture", build="gantrain.models.plane_priors:build_gaussian_mixture")
class MixturePrior(PriorSettings):
    """Gaussians around a circle in the plane of the first two numbers; any others are one Gaussian around 0."""

    modes: Annotated[int, Field(ge=1)] = 10  # equally spaced, equally likely; the first lies on the first axis
    radius: Length = 3.0  # of the circle
    std: Length = 0.5  # along the circle, and of the other numbers
    radial_std: Length | None = None  # across the circle; null: as `std`
    by_label: bool = False  # class k has the law of mode k, modulo the modes

    def uses_labels(self) -> bool:
        """With by_label."""
        return self.by_label

    def fits(self, size: int) -> str | None:
        """At least a plane."""
        return None if size >= 2 else "its circle lies in a plane; write size: 2 or more"


@register("prior", "swiss_roll", build="gantrain.models.plane_priors:build_swiss_roll")
class SwissRoll(PriorSettings):
    """A spiral in the plane, from its centre outwards, equally dense along its length."""

    turns: Length = 2.0  # from the centre to the end
    radius: Length = 3.0  # of the end
    std: Spread = 0.0  # of the Gaussian around the line

    def fits(self, size: int) -> str | None:
        """A plane."""
        return None if size == 2 else "a spiral lies in a plane; write size: 2"
