"""Losses, penalties, regularisers and constraints: settings, facts and names (free of TensorFlow)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gantrain.interfaces import ConstraintSettings, LossSettings, PenaltySettings, RegulariserSettings
from gantrain.objectives import window_catalog
from gantrain.registry import register

MORE_OBJECTIVES = window_catalog  # they register themselves when this is imported

Share = Annotated[float, Field(ge=0, lt=0.5)]
Positive = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]


# ---------------------------------------------------------------- losses


class LabelledLoss(LossSettings):
    """A loss with a target for real examples and one for fake ones."""

    label_smoothing: Share = 0.0  # the real examples' target is 1 minus this
    flipped_share: Share = 0.0  # share of each batch in which the discriminator sees real and fake exchanged


@register("loss", "non_saturating", build="gantrain.objectives.losses:build_non_saturating")
class NonSaturating(LabelledLoss):
    """Cross entropy on logits, the generator maximises log D (Goodfellow et al. 2014)."""


@register("loss", "minimax", build="gantrain.objectives.losses:build_minimax")
class Minimax(LabelledLoss):
    """Cross entropy on logits, the generator minimises log(1 - D): vanishes against a strong discriminator."""

    def is_saturating(self) -> bool:
        """Yes."""
        return True


@register("loss", "hinge", build="gantrain.objectives.losses:build_hinge")
class Hinge(LossSettings):
    """Margin of one for the discriminator, linear for the generator (Lim and Ye 2017)."""


@register("loss", "lsgan", build="gantrain.objectives.losses:build_lsgan")
class LeastSquares(LabelledLoss):
    """Half squared distance of the raw outputs to 1 for real and 0 for fake (Mao et al. 2017)."""

    def boundary(self) -> float:
        """Half-way between the targets."""
        return 0.5


@register("loss", "wasserstein", build="gantrain.objectives.losses:build_wasserstein")
class Wasserstein(LossSettings):
    """Difference of the means (Arjovsky et al. 2017): only with a Lipschitz constraint or penalty."""

    def needs_constraint(self) -> bool:
        """Yes: without one the discriminator's loss has no lower bound."""
        return True

    def boundary(self) -> None:
        """None: a critic has no target."""


@register("loss", "rpgan", build="gantrain.objectives.losses:build_rpgan")
class RelativisticPairing(LossSettings):
    """Cross entropy of the difference between a real and a fake logit; goes with r1 and r2 (Huang et al. 2024)."""

    def boundary(self) -> None:
        """None: only differences count."""

    def generator_reads_real(self) -> bool:
        """Yes."""
        return True


@register("loss", "relativistic_average", build="gantrain.objectives.losses:build_relativistic_average")
class RelativisticAverage(LossSettings):
    """Cross entropy of each logit against the mean of the other side (Jolicoeur-Martineau 2018)."""

    def boundary(self) -> None:
        """None: only differences count."""

    def generator_reads_real(self) -> bool:
        """Yes."""
        return True


# ---------------------------------------------------------------- penalties


class SlopePenalty(PenaltySettings):
    """A penalty on the discriminator's gradient by its input."""

    def limits_slope(self) -> bool:
        """Yes."""
        return True

    def needs_second_derivatives(self) -> bool:
        """Yes."""
        return True


@register("penalty", "r1", build="gantrain.objectives.slope_penalties:build_r1")
class R1(SlopePenalty):
    """Half the squared gradient at real examples (Mescheder et al. 2018); `weight` is gamma."""

    weight: Weight = 10.0  # gamma


@register("penalty", "r2", build="gantrain.objectives.slope_penalties:build_r2")
class R2(SlopePenalty):
    """Half the squared gradient at fake examples (Mescheder et al. 2018); `weight` is gamma."""

    weight: Weight = 10.0  # gamma


@register("penalty", "gradient_penalty", build="gantrain.objectives.slope_penalties:build_gradient_penalty")
class GradientPenalty(SlopePenalty):
    """Squared distance of the gradient's norm to 1, between real and fake (WGAN-GP, Gulrajani et al. 2017)."""

    weight: Weight = 10.0  # lambda
    target: Positive = 1.0  # wanted norm of the gradient
    one_sided: bool = False  # true: only norms above the target cost


@register("penalty", "dragan", build="gantrain.objectives.slope_penalties:build_dragan")
class Dragan(SlopePenalty):
    """Squared distance of the gradient's norm to 1, at disturbed real examples (Kodali et al. 2017)."""

    weight: Weight = 10.0  # lambda
    target: Positive = 1.0  # wanted norm of the gradient
    disturbance: Positive = 0.5  # largest disturbance, in standard deviations of the batch


@register("penalty", "lecam", build="gantrain.objectives.output_penalties:build_lecam")
class LeCam(PenaltySettings):
    """Squared distance of the logits to their moving averages, for little data (Tseng et al. 2021)."""

    weight: Weight = 0.3  # lambda
    decay: Annotated[float, Field(ge=0, lt=1)] = 0.99  # share of the old averages kept at each use


@register("penalty", "consistency", build="gantrain.objectives.output_penalties:build_consistency")
class Consistency(PenaltySettings):
    """Squared change of the logit when a real picture is mirrored and shifted (Zhang et al. 2020)."""

    weight: Weight = 10.0  # lambda
    shift: Annotated[int, Field(ge=0)] = 4  # largest shift in both directions, pixels
    horizontal_flip: bool = True  # mirror half of the pictures

    def applicable(self, shape: tuple[int, ...]) -> str | None:
        """Pictures, larger than the shift."""
        if len(shape) != 3:
            return f"examples of shape {shape} are not pictures, which it could mirror and shift; take r1"
        side = min(shape[:2])
        return None if self.shift < side else f"a shift of {self.shift} pixels is too large for {shape[0]}x{shape[1]}"


# ---------------------------------------------------------------- regularisers and constraints


@register("regulariser", "orthogonal", build="gantrain.objectives.weights:build_orthogonal")
class Orthogonal(RegulariserSettings):
    """Squared inner products between a layer's filters (Brock et al. 2019, without their norms)."""

    weight: Weight = 1e-4  # beta


@register("constraint", "clip_weights", build="gantrain.objectives.weights:build_clip_weights")
class ClipWeights(ConstraintSettings):
    """Every number of the discriminator stays within a limit (Arjovsky et al. 2017)."""

    limit: Positive = 0.01  # largest absolute value

    def limits_slope(self) -> bool:
        """Yes."""
        return True
