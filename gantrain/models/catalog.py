"""Generators, discriminators and priors: settings, facts and names (free of TensorFlow)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gantrain.history_interfaces import ModelSettings
from gantrain.interfaces import DiscriminatorSettings, GeneratorSettings, PriorSettings, Range
from gantrain.models import encoder_catalog, prior_catalog
from gantrain.models.sizes import why_no_attention, why_not
from gantrain.registry import register

MORE_MODELS = (encoder_catalog, prior_catalog)  # they register themselves when this is imported
Positive = Annotated[int, Field(ge=1)]
Slope = Annotated[float, Field(ge=0, lt=1)]
Rate = Annotated[float, Field(ge=0, lt=1)]
Std = Annotated[float, Field(gt=0)]
StageCount = Annotated[int, Field(ge=0)] | Literal["auto"]
GeneratorNorm = Literal["batch_norm", "layer_norm", "group_norm", "pixel_norm", "spectral_norm", "none"]
DiscriminatorNorm = Literal["batch_norm", "layer_norm", "group_norm", "spectral_norm", "none"]

MATCHED_ACTIVATIONS: dict[Range, str] = {(-1.0, 1.0): "tanh", (0.0, 1.0): "sigmoid"}


def _norms(norm: str) -> frozenset[str]:
    return frozenset() if norm == "none" else frozenset({norm})


class CommonGenerator(GeneratorSettings):
    """What all generators share."""

    activation: Literal["auto", "tanh", "sigmoid", "linear"] = "auto"  # of the last layer; auto: matched to the data's range
    conditioning: Literal["embedding"] | None = None  # embedding: a learnt vector per class is appended to the latents
    embedding_size: Positive = 32  # numbers per class vector, with conditioning: embedding
    norm_momentum: Rate = 0.9  # share of the old moving statistics kept at each step, see models/layers.py

    def last_activation(self, data_range: Range | None) -> str:
        """The named one. auto: tanh for [-1, 1], sigmoid for [0, 1], linear for any other range and for unbounded data."""
        if self.activation != "auto":
            return self.activation
        return "linear" if data_range is None else MATCHED_ACTIVATIONS.get((float(data_range[0]), float(data_range[1])), "linear")

    def uses_labels(self) -> bool:
        """With conditioning."""
        return self.conditioning is not None

    def spectral(self) -> bool:
        """Whether the linear layers are spectrally normalised."""
        return "spectral_norm" in self.norms()


class ConvolutionalGenerator(CommonGenerator):
    """A generator whose BatchNorms may be conditional."""

    # embedding: a learnt vector per class is appended to the latents; conditional_batch_norm: a scale and shift per class
    conditioning: Literal["embedding", "conditional_batch_norm"] | None = None  # pyright: ignore[reportIncompatibleVariableOverride]

    @model_validator(mode="after")
    def _has_batch_norm(self) -> ConvolutionalGenerator:
        if self.conditioning == "conditional_batch_norm" and "batch_norm" not in self.norms():
            raise ValueError("conditioning: conditional_batch_norm needs norm: batch_norm; or write conditioning: embedding")
        return self


class CommonDiscriminator(DiscriminatorSettings):
    """What all discriminators share."""

    # projection: inner product with the features; concat: at the input; auxiliary: the discriminator names the class
    conditioning: Literal["projection", "concat", "auxiliary"] | None = None
    dropout: Rate = 0.0  # share of the features dropped after each hidden layer
    norm_momentum: Rate = 0.9  # share of the old moving statistics kept at each step
    initial_std: Std | None = None  # of the normal law of the first weights; null: Glorot uniform

    def uses_labels(self) -> bool:
        """With conditioning."""
        return self.conditioning is not None

    def head_bias(self) -> bool:
        """Whether the logit has a bias."""
        return True

    def spectral(self) -> bool:
        """Whether the linear layers are spectrally normalised."""
        return "spectral_norm" in self.norms()


@register("generator", "mlp", build="gantrain.models.mlp:build_generator")
class MlpGenerator(CommonGenerator):
    """Dense layers; any shape of example."""

    units: Annotated[tuple[Positive, ...], Field(min_length=1)] = (128, 128, 128)  # width of each hidden layer
    norm: Literal["batch_norm", "layer_norm", "pixel_norm", "none"] = "none"  # after each hidden layer
    negative_slope: Slope = 0.0  # of the leaky ReLU; 0 is a plain ReLU
    initial_std: Std | None = None  # of the normal law of the first weights; null: Glorot uniform

    def norms(self) -> frozenset[str]:
        """As set."""
        return _norms(self.norm)


@register("discriminator", "mlp", build="gantrain.models.mlp:build_discriminator")
class MlpDiscriminator(CommonDiscriminator):
    """Dense layers; any shape of example."""

    units: Annotated[tuple[Positive, ...], Field(min_length=1)] = (128, 128, 128)  # width of each hidden layer
    # after each hidden layer but the first; spectral_norm: of every layer's weights
    norm: Literal["batch_norm", "layer_norm", "spectral_norm", "none"] = "none"
    negative_slope: Slope = 0.0  # of the leaky ReLU; 0 is a plain ReLU

    def norms(self) -> frozenset[str]:
        """As set; the first hidden layer never has one."""
        return _norms(self.norm) if len(self.units) > 1 or self.norm == "spectral_norm" else frozenset()


@register("model", "mlp", build="gantrain.models.mlp:build_model")
class MlpModel(ModelSettings):
    """Dense layers, the last of which gives the outputs; inputs of any shape."""

    units: Annotated[tuple[Positive, ...], Field(min_length=1)] = (32,)  # width of each layer; the last one is D
    activation: Literal["relu", "tanh", "sigmoid", "linear"] = "relu"  # of every layer
    last_activation: Literal["relu", "tanh", "sigmoid", "linear"] | None = None  # of the last layer; null: as the others
    dropout: Rate = 0.0  # share of the features dropped after each layer but the last
    initial_std: Std | None = None  # of the normal law of the first weights; null: Glorot uniform

    def output_size(self) -> int:
        """Width of the last layer."""
        return self.units[-1]


@register("generator", "dcgan", build="gantrain.models.dcgan:build_generator")
class DcganGenerator(ConvolutionalGenerator):
    """Transposed convolutions that double a small map up to the picture (Radford et al. 2015)."""

    base_width: Positive = 64  # channels at half the picture's size; they double with each stage towards the seed
    max_width: Positive = 512  # no stage has more channels
    stages: StageCount = "auto"  # stride-2 stages; auto: while both sides are even and stay at least 4
    kernel_size: Annotated[int, Field(ge=2)] = 4  # pixels
    refine: bool = False  # one more stage of stride 1 at the seed's size
    norm: GeneratorNorm = "batch_norm"  # after each layer but the last; spectral_norm: of every layer's weights
    seed_norm: Literal["channels", "units"] = "channels"  # statistics of the seed per channel, or per channel and position
    use_bias: bool | Literal["auto"] = "auto"  # auto: where no norm follows that has a shift
    negative_slope: Slope = 0.0  # of the leaky ReLU; 0 is a plain ReLU
    initial_std: Std | None = 0.02  # of the normal law of the first weights; null: Glorot uniform
    resample: Literal["strided", "blur"] = "strided"  # strided: by the convolution; blur: by a filter that does not alias
    attention: Positive | None = None  # self-attention on the map of this height, pixels

    def norms(self) -> frozenset[str]:
        """As set."""
        return _norms(self.norm)

    def buildable(self, shape: tuple[int, ...]) -> str | None:
        """Pictures whose sides the stages can reach."""
        return why_not(shape, self.stages) or why_no_attention(shape, self.stages, self.attention)


@register("discriminator", "dcgan", build="gantrain.models.dcgan:build_discriminator")
class DcganDiscriminator(CommonDiscriminator):
    """Strided convolutions that halve the picture down to a small map (Radford et al. 2015)."""

    base_width: Positive = 64  # channels after the first stage; they double with each stage
    max_width: Positive = 512  # no stage has more channels
    stages: StageCount = "auto"  # stride-2 stages; auto: while both sides are even and stay at least 4
    kernel_size: Annotated[int, Field(ge=2)] = 4  # pixels
    norm: DiscriminatorNorm = "batch_norm"  # after each stage but the first; spectral_norm: of every layer's weights
    use_bias: bool | Literal["auto"] = "auto"  # auto: where no norm follows that has a shift
    negative_slope: Slope = 0.2  # of the leaky ReLU
    initial_std: Std | None = 0.02  # of the normal law of the first weights; null: Glorot uniform
    resample: Literal["strided", "blur"] = "strided"  # strided: by the convolution; blur: by a filter that does not alias
    attention: Positive | None = None  # self-attention on the map of this height, pixels
    minibatch_std: bool = False  # one more channel at the end: the spread of the batch

    def norms(self) -> frozenset[str]:
        """As set; the first stage never has one, but for its weights."""
        return frozenset() if self.stages in (0, 1) and self.norm != "spectral_norm" else _norms(self.norm)

    def head_bias(self) -> bool:
        """As the stages that no norm follows."""
        return self.use_bias is not False

    def buildable(self, shape: tuple[int, ...]) -> str | None:
        """Pictures whose sides the stages can reach."""
        return why_not(shape, self.stages) or why_no_attention(shape, self.stages, self.attention)


@register("generator", "sngan_resnet", build="gantrain.models.sngan_resnet:build_generator")
class SnganGenerator(ConvolutionalGenerator):
    """Residual blocks that double the map by repetition (Miyato et al. 2018)."""

    width: Positive = 256  # channels of every block
    stages: StageCount = "auto"  # doublings; auto: from 4x4, or as near as halving gets
    norm: Literal["batch_norm", "none"] = "batch_norm"

    def norms(self) -> frozenset[str]:
        """As set."""
        return _norms(self.norm)

    def buildable(self, shape: tuple[int, ...]) -> str | None:
        """Pictures whose sides the stages can reach."""
        return why_not(shape, self.stages)


@register("discriminator", "sngan_resnet", build="gantrain.models.sngan_resnet:build_discriminator")
class SnganDiscriminator(CommonDiscriminator):
    """Residual blocks that halve the map, then two that do not (Miyato et al. 2018)."""

    width: Positive = 128  # channels of every block
    stages: StageCount = "auto"  # doublings of the generator it is the match of: it halves one time less
    norm: Literal["spectral_norm", "none"] = "spectral_norm"  # of every layer's weights

    def norms(self) -> frozenset[str]:
        """As set."""
        return _norms(self.norm)

    def buildable(self, shape: tuple[int, ...]) -> str | None:
        """Pictures whose sides the stages can reach."""
        return why_not(shape, self.stages)


@register("prior", "normal", build="gantrain.models.priors:build_normal")
class Normal(PriorSettings):
    """Independent standard normal numbers."""


@register("prior", "uniform", build="gantrain.models.priors:build_uniform")
class Uniform(PriorSettings):
    """Independent numbers, uniform in [-1, 1)."""


@register("prior", "truncated_normal", build="gantrain.models.priors:build_truncated_normal")
class TruncatedNormal(PriorSettings):
    """Independent standard normal numbers, none of them beyond a limit."""

    limit: Annotated[float, Field(gt=0)] = 2.0  # largest absolute value
