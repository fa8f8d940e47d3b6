"""One update of one network: reduce the gradient over replicas, judge it, clip it, apply it. The variables are explicit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import tensorflow as tf

from gantrain.errors import WiringError
from gantrain.interfaces import Optimizer, Tensor
from gantrain.training.loss_scale import LossScale

FINE = -1  # code of an update that was finite


class Outcome(NamedTuple):
    """`fine`: bool; `norm`: of the whole reduced gradient, before clipping; `blamed`: index into `Update.suspects`, or FINE.

    An update that only overflowed under a loss scale is fine: it is left out, the scale halves, and its norm counts as 0.
    """

    fine: Tensor
    norm: Tensor
    blamed: Tensor


class Update:
    """Owns one network's trainable variables and their optimizer. `learning_rate` is a number, or a function that reads it."""

    def __init__(
        self,
        role: str,
        variables: Mapping[str, tf.Variable],
        optimizer: Optimizer,
        learning_rate: float | Callable[[], Tensor],
        clip_norm: float | None,
        constraints: tuple[Callable[[list[tf.Variable]], None], ...] = (),
        loss_scale: LossScale | None = None,
    ) -> None:
        self.role = role
        self.keys = list(variables)
        self.variables = list(variables.values())
        self.optimizer = optimizer
        self._learning_rate = learning_rate
        self._clip_norm = clip_norm
        self._constraints = constraints
        self.loss_scale = loss_scale

    @property
    def suspects(self) -> list[str]:
        """What a non-finite update is blamed on: the loss, one variable's gradient, or only the norm of all."""
        return [f"loss/{self.role}", *(f"gradient of {key}" for key in self.keys), f"gradient norm of {self.role}"]

    def watch(self, tape: tf.GradientTape) -> None:
        """Watch exactly this network's variables (the tape is made with watch_accessed_variables=False)."""
        tape.watch(self.variables)

    @property
    def scale(self) -> Tensor:
        """What losses are multiplied with before they are differentiated; 1 but for float16."""
        return 1.0 if self.loss_scale is None else self.loss_scale.value.read_value()

    def gradient(self, tape: tf.GradientTape, loss: Tensor) -> list[Tensor | None]:
        """Gradient of `scale` times the loss, as `run` takes it."""
        return tape.gradient(loss, self.variables, None if self.loss_scale is None else tf.cast(self.scale, loss.dtype))

    def complete(self, gradients: list[Tensor | None]) -> list[Tensor]:
        """The gradients as dense tensors. Raises WiringError that names the variables which get none."""
        return [tf.convert_to_tensor(gradient) for gradient in self._require(gradients)]

    def run(self, loss: Tensor, gradients: list[Tensor | None], gate: Tensor) -> Outcome:
        """Apply the update if `gate` holds and it is finite. `loss` is this replica's share; gradients are summed over replicas.

        Raises WiringError that names the variables which get no gradient.
        """
        reduced, loss = _reduce(self._require(gradients), loss)
        if self.loss_scale is not None:
            scale = self.scale
            reduced = [tf.cast(gradient, tf.float32) / scale for gradient in reduced]
        norm = tf.linalg.global_norm(reduced)
        fine = tf.math.is_finite(loss) & tf.math.is_finite(norm)
        blamed = tf.cond(
            gate & fine, lambda: self._apply(reduced, norm), lambda: tf.where(gate, self._first_bad(loss, reduced), FINE)
        )
        outcome = Outcome(gate & fine, norm, blamed)
        return outcome if self.loss_scale is None else self._forgiven(outcome, gate & tf.math.is_finite(loss), self.loss_scale)

    def _forgiven(self, outcome: Outcome, loss_fine: Tensor, loss_scale: LossScale) -> Outcome:
        """An overflow of the gradient that a smaller scale may cure is no divergence."""
        overflowed = loss_fine & ~outcome.fine & loss_scale.can_shrink()
        loss_scale.learn(outcome.fine, overflowed)
        norm = tf.where(overflowed, tf.zeros_like(outcome.norm), outcome.norm)
        blamed = tf.where(overflowed, tf.constant(FINE, tf.int64), outcome.blamed)
        return Outcome(outcome.fine | overflowed, norm, blamed)

    def _apply(self, gradients: list[Tensor], norm: Tensor) -> Tensor:
        if self._clip_norm is not None:
            scale = tf.minimum(1.0, self._clip_norm / tf.maximum(norm, self._clip_norm))
            gradients = [gradient * scale for gradient in gradients]
        rate = self._learning_rate() if callable(self._learning_rate) else tf.constant(self._learning_rate, tf.float32)
        self.optimizer.apply(gradients, rate)
        for constraint in self._constraints:
            constraint(self.variables)
        return tf.constant(FINE, tf.int64)

    def _first_bad(self, loss: Tensor, gradients: list[Tensor]) -> Tensor:
        bad = [~tf.math.is_finite(loss), *(~tf.reduce_all(tf.math.is_finite(gradient)) for gradient in gradients), True]
        return tf.argmax(tf.cast(tf.stack(bad), tf.int32), output_type=tf.int64)

    def missing(self, gradients: list[Tensor | None]) -> list[str]:
        """Keys of the variables that get no gradient."""
        return [key for key, gradient in zip(self.keys, gradients, strict=True) if gradient is None]

    def _require(self, gradients: list[Tensor | None]) -> list[Tensor]:
        missing = self.missing(gradients)
        if missing:
            raise WiringError("gradient-none", self.role, no_gradient(self.role, missing))
        return [gradient for gradient in gradients if gradient is not None]


def no_gradient(role: str, missing: list[str]) -> str:
    """What to say of variables that can never learn."""
    return (
        f"the {role}'s loss gives no gradient to {', '.join(missing)}: "
        "a layer that is never called, a stop_gradient, a cast to integers, or NumPy inside the net"
    )


def _reduce(gradients: list[Tensor], loss: Tensor) -> tuple[list[Tensor], Tensor]:
    context = tf.distribute.get_replica_context()
    if context.num_replicas_in_sync == 1:
        return gradients, loss
    *gradients, loss = context.all_reduce(tf.distribute.ReduceOp.SUM, [*gradients, loss])
    return gradients, loss
