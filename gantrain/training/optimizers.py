"""Optimizers with fused kernels: one op per variable and update (Keras' own take about ten).

Each owns its slots under stable keys and counts its own updates. Gradients come reduced and clipped; nothing here looks at them.
"""

from __future__ import annotations

from collections.abc import Mapping

import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.training import catalog
from gantrain.training.memory import require


class _SlotOptimizer:
    """Shared part: slots per variable, in the order of the dictionary of variables."""

    slot_names: tuple[str, ...] = ()

    def __init__(self, variables: Mapping[str, tf.Variable]) -> None:
        self._targets = list(variables.values())
        size = sum((target.shape.num_elements() or 0) * target.dtype.size for target in self._targets)
        require(size * len(self.slot_names), "the state of an optimizer")
        self.updates = tf.Variable(tf.constant(0, tf.int64), trainable=False, name="updates")
        self._slots = {name: [_zeros_like(target) for target in self._targets] for name in self.slot_names}
        self.variables = {"updates": self.updates}
        for name, slots in self._slots.items():
            self.variables |= {f"{key}/{name}": slot for key, slot in zip(variables, slots, strict=True)}

    def apply(self, gradients: list[Tensor], learning_rate: Tensor) -> None:
        """One update of every variable."""
        count = tf.cast(self.updates.assign_add(1), tf.float32)
        slots = [self._slots[name] for name in self.slot_names]
        for target, gradient, *own in zip(self._targets, gradients, *slots, strict=True):
            self._apply_one(target, tf.cast(gradient, target.dtype), own, learning_rate, count)

    def _apply_one(self, target: tf.Variable, gradient: Tensor, slots: list[tf.Variable], rate: Tensor, count: Tensor) -> None:
        raise NotImplementedError


class Adam(_SlotOptimizer):
    """Adam (Kingma and Ba 2015, the variant of section 2 with epsilon added to the uncorrected root).

    m <- b1 m + (1-b1) g;  v <- b2 v + (1-b2) g^2;  w <- w - lr sqrt(1-b2^t)/(1-b1^t) m / (sqrt(v) + epsilon)
    """

    slot_names = ("m", "v")

    def __init__(self, settings: catalog.Adam, variables: Mapping[str, tf.Variable]) -> None:
        super().__init__(variables)
        self._settings = settings

    def _apply_one(self, target: tf.Variable, gradient: Tensor, slots: list[tf.Variable], rate: Tensor, count: Tensor) -> None:
        s = self._settings
        tf.raw_ops.ResourceApplyAdam(
            var=target.handle,
            m=slots[0].handle,
            v=slots[1].handle,
            beta1_power=tf.pow(s.beta_1, count),
            beta2_power=tf.pow(s.beta_2, count),
            lr=rate,
            beta1=s.beta_1,
            beta2=s.beta_2,
            epsilon=s.epsilon,
            grad=gradient,
        )


class RmsProp(_SlotOptimizer):
    """RMSprop (Tieleman and Hinton 2012): v <- rho v + (1-rho) g^2;  w <- w - lr g / sqrt(v + epsilon)."""

    slot_names = ("v", "momentum")

    def __init__(self, settings: catalog.RmsProp, variables: Mapping[str, tf.Variable]) -> None:
        super().__init__(variables)
        self._settings = settings

    def _apply_one(self, target: tf.Variable, gradient: Tensor, slots: list[tf.Variable], rate: Tensor, count: Tensor) -> None:
        del count
        tf.raw_ops.ResourceApplyRMSProp(
            var=target.handle,
            ms=slots[0].handle,
            mom=slots[1].handle,
            lr=rate,
            rho=self._settings.rho,
            momentum=0.0,
            epsilon=self._settings.epsilon,
            grad=gradient,
        )


class Sgd(_SlotOptimizer):
    """Gradient descent with heavy-ball momentum: a <- momentum a + g;  w <- w - lr a."""

    slot_names = ("accumulator",)

    def __init__(self, settings: catalog.Sgd, variables: Mapping[str, tf.Variable]) -> None:
        super().__init__(variables)
        self._settings = settings

    def _apply_one(self, target: tf.Variable, gradient: Tensor, slots: list[tf.Variable], rate: Tensor, count: Tensor) -> None:
        del count
        tf.raw_ops.ResourceApplyMomentum(
            var=target.handle, accum=slots[0].handle, lr=rate, grad=gradient, momentum=self._settings.momentum
        )


def _zeros_like(target: tf.Variable) -> tf.Variable:
    return tf.Variable(tf.zeros(target.shape, target.dtype), trainable=False, name="slot")
