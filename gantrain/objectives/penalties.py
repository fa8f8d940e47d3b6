"""How penalties and regularisers enter the discriminator's loss. They themselves are registered components, see interfaces.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import tensorflow as tf

from gantrain import registry
from gantrain.interfaces import PenaltyContext, PenaltySettings, RegulariserSettings, Tensor


@dataclass(frozen=True)
class WeightedPenalty:
    """One penalty with its factor, applied each `every`-th step."""

    function: Callable[[PenaltyContext], Tensor]  # context -> [B]
    weight: float  # factor of the mean over the batch
    every: int  # steps
    name: str = "penalty"

    @property
    def variables(self) -> dict[str, tf.Variable]:
        """State of its own, name -> variable; most have none."""
        return getattr(self.function, "variables", {})


def build_penalties(settings: Sequence[PenaltySettings]) -> tuple[WeightedPenalty, ...]:
    """The penalties of a spec, in its order."""
    return tuple(WeightedPenalty(registry.build(item), item.weight, item.every, registry.row_of(item).name) for item in settings)


def penalty_state(penalties: Sequence[WeightedPenalty]) -> dict[str, tf.Variable]:
    """What a checkpoint saves of them: penalty/<place in the list>.<name>/<variable>."""
    return {
        f"penalty/{index}.{penalty.name}/{key}": variable
        for index, penalty in enumerate(penalties)
        for key, variable in penalty.variables.items()
    }


def build_regulariser(settings: Sequence[RegulariserSettings]) -> Callable[[list[tf.Variable]], Tensor] | None:
    """The weighted sum of all regularisers, (variables) -> float32 scalar; None without any."""
    built = [(item.weight, registry.build(item)) for item in settings]
    return (lambda variables: tf.add_n([weight * function(variables) for weight, function in built])) if built else None


def sum_penalties(penalties: Sequence[WeightedPenalty], context: PenaltyContext, step: Tensor) -> Tensor:
    """Sum of all weighted means over the batch at `step` (integer scalar): a float32 scalar, zero without penalties.

    A penalty of interval k costs nothing at the steps that k does not divide, and has k times its weight at the others, so that
    its mean over k steps is unchanged (lazy regularisation, Karras et al. 2020, arXiv:1912.04958, section 3.1).
    """
    return tf.add_n([tf.zeros([])] + [_lazy(penalty, context, step) for penalty in penalties])


def _lazy(penalty: WeightedPenalty, context: PenaltyContext, step: Tensor) -> Tensor:
    def value(seen: PenaltyContext) -> Tensor:
        return penalty.weight * penalty.every * tf.reduce_mean(tf.cast(penalty.function(seen), tf.float32))

    if penalty.every == 1:
        return value(context)
    due = tf.equal(tf.cast(step, tf.int64) % penalty.every, 0)
    # Own forwards: what a branch took of the others would get gradients of zeros at the steps it is left out.
    own = replace(context, real_slope=None, fake_slope=None)
    return tf.cond(due, lambda: value(own), lambda: tf.zeros([]))
