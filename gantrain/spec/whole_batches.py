"""`training` of the tasks that take each batch as a whole."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from gantrain.interfaces import Settings
from gantrain.spec.model import Positive


class WholeBatchTraining(Settings):
    """How long, and with which arithmetic."""

    why_whole: ClassVar[str]  # what a user reads who asks for micro-batches

    steps: Positive | None = None  # or epochs, never both
    epochs: Positive | None = None
    accumulate: Positive = 1  # micro-batches per update: 1 only
    precision: Literal["float32", "mixed_bfloat16", "mixed_float16"] = "float32"
    jit: bool = False  # compile the step with XLA
    steps_per_call: Positive | Literal["auto"] = "auto"  # auto: one call lasts about half a second
    deterministic: bool | Literal["auto"] = "auto"  # auto: op determinism on a GPU, nothing to do on a CPU
    clip_norm: Annotated[float, Field(gt=0)] | None = None  # limit of the global norm of each update's reduced gradient
    on_nonfinite: Literal["abort", "skip", "rollback"] = "abort"  # what an update that is NaN or infinite leads to
    skip_budget: Annotated[int, Field(ge=0)] = 100  # steps that on_nonfinite: skip may leave out in a run
    rollback_budget: Annotated[int, Field(ge=0)] = 3  # times that on_nonfinite: rollback may go back in a run

    @field_validator("accumulate")
    @classmethod
    def _whole_batches(cls, value: int) -> int:
        if value > 1:
            raise ValueError(cls.why_whole)
        return value
