"""Many steps in one call: the loop runs in the graph, Python looks only between calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import tensorflow as tf

from gantrain.errors import UsageError
from gantrain.interfaces import Tensor
from gantrain.training.fakes import Batch
from gantrain.training.gan import StepResult
from gantrain.training.progress import Progress
from gantrain.training.trials import Trial

# Of TensorFlow's message: the device, and the first operation that is not there.
_UNSUPPORTED = re.compile(r"unsupported operations when trying to compile .* on XLA_(\w+)_JIT: (\w+)")


class Step(Protocol):
    """A step of any task: graph code, called in replica context. `suspects`: what `StepResult.blamed` points into."""

    @property
    def facts(self) -> tuple[str, ...]:
        """Names of the numbers it reports."""
        ...

    @property
    def suspects(self) -> list[str]:
        """Names of what may not be finite."""
        ...

    def trials(self) -> list[Trial]:
        """Each of its updates by itself, in their order."""
        ...

    def __call__(self, batches: Sequence[Batch], number: Tensor) -> StepResult:
        """One step; `number` counts from 0."""
        ...


class CallResult(NamedTuple):
    """After a call: all updates were finite; seconds the graph waited for data."""

    fine: bool
    input_wait_sec: float


class Skipping(NamedTuple):
    """Steps that are not finite are passed over: at most `budget` of them in a run.

    `side_states`: variables that forwards move (moving statistics, averages of penalties).
    """

    budget: int
    side_states: list[tf.Variable]


class Engine:
    """Runs steps on an endless iterator of batches, with `batches_per_step` taken per step.

    `after_update(step number)` is graph code that runs after a step whose updates were applied (the moving average).
    """

    def __init__(
        self,
        step: Step,
        progress: Progress,
        after_update: Callable[[Tensor], None],
        batches_per_step: int,
        jit: bool,
        skipping: Skipping | None = None,
    ) -> None:
        self.step = step
        self._jit = jit
        self._skipping = skipping
        self.suspects = step.suspects
        self._progress = progress
        self._after_update = after_update
        self._batches_per_step = batches_per_step
        self._compiled: Callable[[Tensor], tuple[Tensor, Tensor]] | None = None

    def start(self, iterator: Iterator[dict[str, Tensor]]) -> None:
        """Take batches from `iterator` from now on; it stands at the batch of the current step. Traces the step anew."""
        self.iterator = iterator
        self._choose_call()
        self._compiled = tf.function(self._many_steps(iterator), autograph=False)

    def run(self, steps: int) -> CallResult:
        """Run `steps` steps, or stop after the first whose update is not finite (it is not applied).

        With `skipping`, stop only after one more than it allows. Raises UsageError for what XLA cannot compile.
        """
        assert self._compiled is not None, "start() comes first"
        try:
            fine, wait = self._compiled(tf.constant(steps, tf.int32))
        except tf.errors.InvalidArgumentError as error:
            refusal = _without_kernel(error)
            if refusal is None:
                raise
            raise refusal from error
        return CallResult(bool(fine), float(wait))

    def once(self) -> Callable[[list[dict[str, Tensor]]], Tensor]:
        """One whole step on batches that are given, traced by itself, never by XLA; whether it was applied. For checks."""
        self._call = self.step
        return tf.function(self._one_step, autograph=False)

    def follow_up(self) -> Callable[[Tensor], Tensor]:
        """What runs after a step that was applied (the moving average), compiled by itself. For measurements."""
        return tf.function(self._applied, autograph=False)

    def _choose_call(self) -> None:
        self._call = tf.function(self.step.__call__, jit_compile=True, autograph=False) if self._jit else self.step

    def _many_steps(self, iterator: Iterator[dict[str, Tensor]]) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
        def body(done: Tensor, fine: Tensor, wait: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            with tf.control_dependencies([done, fine]):
                asked = tf.timestamp()
            with tf.control_dependencies([asked]):
                batches = [next(iterator) for _ in range(self._batches_per_step)]
            with tf.control_dependencies(tf.nest.flatten(batches)):
                wait += tf.timestamp() - asked
            return done + 1, self._one_step(batches), wait

        def many_steps(steps: Tensor) -> tuple[Tensor, Tensor]:
            start = (tf.constant(0), tf.constant(True), tf.constant(0.0, tf.float64))
            _, fine, wait = tf.while_loop(lambda done, fine, _: (done < steps) & fine, body, start, parallel_iterations=1)
            return fine, wait

        return many_steps

    def _one_step(self, batches: list[dict[str, Tensor]]) -> Tensor:
        number = self._progress.step.read_value()
        before = [tf.identity(variable) for variable in self._skipping.side_states] if self._skipping else []
        result: StepResult = tf.distribute.get_strategy().run(self._call, args=(batches, number))
        applied = tf.cond(result.fine, lambda: self._applied(number), lambda: self._undone(before))
        self._progress.record(result.facts, result.fine, result.blamed, result.measured)
        with tf.control_dependencies([applied, self._progress.step.read_value()]):  # else waiting for these is input wait
            return tf.identity(result.fine) if self._skipping is None else self._progress.skipped <= self._skipping.budget

    def _applied(self, number: Tensor) -> Tensor:
        self._after_update(number)
        return tf.constant(0)

    def _undone(self, before: list[Tensor]) -> Tensor:
        """What the forwards of a step moved that was not applied: back to where it was, for it may not be finite."""
        for variable, value in zip(self._skipping.side_states if self._skipping else (), before, strict=True):
            variable.assign(value)
        return tf.constant(0)


def _without_kernel(error: tf.errors.InvalidArgumentError) -> UsageError | None:
    """What to say if XLA has no kernel for an operation; None for any other error."""
    found = _UNSUPPORTED.search(error.message)
    if found is None:
        return None
    return UsageError(
        f"training.jit: XLA has no {found[1]} kernel for {found[2]}, which the nets or the objective use; write jit: false"
    )
