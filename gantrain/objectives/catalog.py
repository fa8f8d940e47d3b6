"""Losses: settings, facts and names (free of TensorFlow)."""

from __future__ import annotations

from gantrain.interfaces import LossSettings
from gantrain.registry import register


@register("loss", "non_saturating", build="gantrain.objectives.losses:build_non_saturating")
class NonSaturating(LossSettings):
    """Cross entropy on logits, the generator maximises log D (Goodfellow et al. 2014)."""


@register("loss", "minimax", build="gantrain.objectives.losses:build_minimax")
class Minimax(LossSettings):
    """Cross entropy on logits, the generator minimises log(1 - D): vanishes against a strong discriminator."""

    def is_saturating(self) -> bool:
        """Yes."""
        return True


@register("loss", "hinge", build="gantrain.objectives.losses:build_hinge")
class Hinge(LossSettings):
    """Margin of one for the discriminator, linear for the generator (Lim and Ye 2017)."""


@register("loss", "lsgan", build="gantrain.objectives.losses:build_lsgan")
class LeastSquares(LossSettings):
    """Half squared distance of the raw outputs to 1 for real and 0 for fake (Mao et al. 2017)."""


@register("loss", "wasserstein", build="gantrain.objectives.losses:build_wasserstein")
class Wasserstein(LossSettings):
    """Difference of the means (Arjovsky et al. 2017): only with a Lipschitz constraint or penalty."""

    def needs_constraint(self) -> bool:
        """Yes: without one the discriminator's loss has no lower bound."""
        return True
