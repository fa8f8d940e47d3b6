"""The spec of task `aae`: an autoencoder whose codes follow a prior (Makhzani et al. 2015, arXiv:1511.05644)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from gantrain.aae_interfaces import EncoderSettings
from gantrain.interfaces import (
    DiscriminatorSettings,
    GeneratorSettings,
    NetSettings,
    OptimizerSettings,
    PriorSettings,
    ScheduleSettings,
    Settings,
    SourceSettings,
)
from gantrain.spec.component import Component, NumberOrComponent, OptionalComponent, SizedComponent, named
from gantrain.spec.model import NAME, NAME_WORDS, Data, Objective, Output
from gantrain.spec.whole_batches import WholeBatchTraining

SCORES = ("eval/reconstruction_mse", "eval/code_mmd", "eval/code_mmd_floor")  # at each evaluate_every
HELD_OUT_SCORE = "eval/held_out_mse"  # with data.held_out


class AaeData(Data):
    """Where examples come from, and which are never trained on."""

    held_out: Annotated[SourceSettings | None, OptionalComponent("source")] = None  # scored at evaluate_every; null: none


class AaeObjective(Objective):
    """The reconstruction's loss, and those of the game on the codes (prior draws are real, codes are fake)."""

    reconstruction: Literal["mse", "mae", "binary_cross_entropy"] = "mse"  # mean over the numbers of an example
    weight: Annotated[float | ScheduleSettings, NumberOrComponent("schedule")] = 1.0  # factor of the reconstruction's loss
    regularisation_weight: Annotated[float, Field(ge=0)] = 1.0  # factor of the encoder's loss in the game; 0: no such update


ADAM: Any = {"name": "adam", "learning_rate": 1e-3, "beta_1": 0.9}  # without an opponent, the usual momentum


class AaeOptimizers(Settings):
    """One optimizer per update, always three instances."""

    reconstruction: Annotated[OptimizerSettings, Component("optimizer")] = ADAM  # of encoder and decoder
    discriminator: Annotated[OptimizerSettings, Component("optimizer")] = named("adam")
    regularisation: Annotated[OptimizerSettings, Component("optimizer")] = named("adam")  # of the encoder, in the game


class AaeTraining(WholeBatchTraining):
    """How long, and with which arithmetic."""

    why_whole = "task aae takes whole batches; write 1, and a smaller data.batch_size where memory is short"


class AaeSpec(Settings):
    """A whole experiment."""

    name: Annotated[str, Field(pattern=NAME, max_length=100, description=NAME_WORDS)]  # default: the file's stem
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    task: Literal["aae"]
    plugins: tuple[str, ...] = ()  # ./file.py or installed module that registers more components
    ignore: tuple[str, ...] = ()  # names of rules to silence: warnings only
    data: AaeData
    encoder: Annotated[EncoderSettings, Component("encoder")]
    decoder: Annotated[GeneratorSettings, Component("generator")]
    discriminator: Annotated[DiscriminatorSettings, Component("discriminator")]  # of codes
    prior: Annotated[PriorSettings, SizedComponent("prior")]  # law that the codes shall have; `size` numbers
    objective: AaeObjective = Field(default_factory=AaeObjective)  # factories: their defaults need the catalogs
    optimizers: AaeOptimizers = Field(default_factory=AaeOptimizers)
    training: AaeTraining
    output: Output = Output()

    @property
    def batches_per_step(self) -> int:
        """One."""
        return 1

    @property
    def scores(self) -> tuple[str, ...]:
        """What is computed at each evaluate_every."""
        return SCORES if self.data.held_out is None else (*SCORES, HELD_OUT_SCORE)

    @property
    def code_size(self) -> int:
        """Z, the numbers of a code."""
        return int(getattr(self.prior, "size"))  # noqa: B009  SizedComponent adds it, so that no class has it

    @property
    def nets(self) -> dict[str, NetSettings]:
        """By role."""
        return {"encoder": self.encoder, "decoder": self.decoder, "discriminator": self.discriminator}

    @property
    def uses_labels(self) -> bool:
        """Whether a net, or the prior, reads labels."""
        return self.prior.uses_labels() or any(net.uses_labels() for net in self.nets.values())
