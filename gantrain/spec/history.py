"""The spec of task `history`: a network whose loss sees its last K outputs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from gantrain.history_interfaces import ModelSettings, WindowContext, WindowLossSettings
from gantrain.interfaces import NetSettings, OptimizerSettings, Range, Settings
from gantrain.spec.component import Component, named
from gantrain.spec.model import NAME, NAME_WORDS, Data, Output
from gantrain.spec.whole_batches import WholeBatchTraining


class HistoryData(Data):
    """Inputs and targets, and in which order they come."""

    range: Range | None = None  # what the network sees; null: values as they are
    order: Literal["sequential", "shuffled"]  # sequential: as in the data, epoch after epoch | shuffled: anew each epoch

    @property
    def sequential(self) -> bool:
        """By `order`."""
        return self.order == "sequential"

    @model_validator(mode="after")
    def _nothing_to_shuffle(self) -> HistoryData:
        if self.sequential and self.shuffle_buffer != "full":
            raise ValueError("shuffle_buffer has no meaning with order: sequential; leave it out, or write order: shuffled")
        return self


class Window(Settings):
    """What the loss sees: Z, the last `length` outputs, newest first."""

    length: Annotated[int, Field(ge=1, le=10_000)] = 4  # K
    unit: Literal["sample", "batch"] = "sample"  # the window slides over examples, also across batches | over whole batches
    gradient: Literal["newest", "window"] = "newest"  # of the newest output | of every output of the window that is in the batch
    start: Literal["zeros", "warm_up"] = "zeros"  # zeros for outputs that are not there yet | K-1 outputs without an update
    reset: Literal["never", "epoch"] = "never"  # when the window is emptied, besides the end of a sequence

    @model_validator(mode="after")
    def _has_a_gradient(self) -> Window:
        if self.unit == "batch" and self.gradient == "window":
            raise ValueError("with unit: batch no older output is in the batch; write gradient: newest, or unit: sample")
        return self


class HistoryObjective(Settings):
    """The loss."""

    loss: Annotated[WindowLossSettings, Component("window_loss")] = named("norm_mse")


ADAM: Any = {"name": "adam", "learning_rate": 1e-3, "beta_1": 0.9}  # without an opponent, the usual momentum


class HistoryOptimizers(Settings):
    """The network's optimizer."""

    model: Annotated[OptimizerSettings, Component("optimizer")] = ADAM


class HistoryTraining(WholeBatchTraining):
    """How long, and with which arithmetic."""

    why_whole = "task history takes whole batches, for micro-batches would tear its windows apart; write 1"


class HistorySpec(Settings):
    """A whole experiment."""

    name: Annotated[str, Field(pattern=NAME, max_length=100, description=NAME_WORDS)]  # default: the file's stem
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    task: Literal["history"]
    plugins: tuple[str, ...] = ()  # ./file.py or installed module that registers more components
    ignore: tuple[str, ...] = ()  # names of rules to silence: warnings only
    data: HistoryData
    model: Annotated[ModelSettings, Component("model")]
    history: Window = Window()
    objective: HistoryObjective = Field(default_factory=HistoryObjective)  # factories: their defaults need the catalogs
    optimizers: HistoryOptimizers = Field(default_factory=HistoryOptimizers)
    training: HistoryTraining
    output: Output = Output()

    @property
    def batches_per_step(self) -> int:
        """One."""
        return 1

    @property
    def nets(self) -> dict[str, NetSettings]:
        """By role."""
        return {"model": self.model}

    @property
    def uses_labels(self) -> bool:
        """Never."""
        return False

    @property
    def window(self) -> WindowContext:
        """K and D."""
        return WindowContext(self.history.length, self.model.output_size())
