"""Encoders: settings, facts and names (free of TensorFlow). Their decoders are generators."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gantrain.aae_interfaces import EncoderSettings
from gantrain.models.sizes import why_no_attention, why_not
from gantrain.registry import register

Positive = Annotated[int, Field(ge=1)]
Rate = Annotated[float, Field(ge=0, lt=1)]


class CommonEncoder(EncoderSettings):
    """What all encoders share."""

    norm: Literal["batch_norm", "layer_norm", "group_norm", "spectral_norm", "none"] = "batch_norm"
    dropout: Rate = 0.0  # share of the features dropped after each hidden layer
    norm_momentum: Rate = 0.9  # share of the old moving statistics kept at each step
    initial_std: Annotated[float, Field(gt=0)] | None = None  # of the normal law of the first weights; null: Glorot uniform

    def norms(self) -> frozenset[str]:
        """As set."""
        return frozenset() if self.norm == "none" else frozenset({self.norm})


@register("encoder", "mlp", build="gantrain.models.encoders:build_mlp_encoder")
class MlpEncoder(CommonEncoder):
    """Dense layers; any shape of example."""

    units: Annotated[tuple[Positive, ...], Field(min_length=1)] = (128, 128)  # width of each hidden layer
    norm: Literal["batch_norm", "layer_norm", "spectral_norm", "none"] = "none"  # pyright: ignore[reportIncompatibleVariableOverride]
    negative_slope: Rate = 0.0  # of the leaky ReLU; 0 is a plain ReLU


@register("encoder", "dcgan", build="gantrain.models.encoders:build_dcgan_encoder")
class DcganEncoder(CommonEncoder):
    """Strided convolutions that halve the picture down to a small map, as the discriminator of that name."""

    base_width: Positive = 32  # channels after the first stage; they double with each stage
    max_width: Positive = 512  # no stage has more channels
    stages: Annotated[int, Field(ge=0)] | Literal["auto"] = "auto"  # stride-2 stages; auto: while both sides are even, >= 4
    kernel_size: Annotated[int, Field(ge=2)] = 4  # pixels
    use_bias: bool | Literal["auto"] = "auto"  # auto: where no norm follows that has a shift
    negative_slope: Rate = 0.2  # of the leaky ReLU
    resample: Literal["strided", "blur"] = "strided"  # strided: by the convolution; blur: by a filter that does not alias
    attention: Positive | None = None  # self-attention on the map of this height, pixels

    def buildable(self, shape: tuple[int, ...]) -> str | None:
        """Pictures whose sides the stages can reach."""
        return why_not(shape, self.stages) or why_no_attention(shape, self.stages, self.attention)
