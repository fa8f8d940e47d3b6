"""What `fit` checks of its own first step: that it moved each net, and its statistics. It costs one copy of the weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gantrain.aae_experiment import AaeExperiment
from gantrain.errors import WiringError
from gantrain.experiment import AnyExperiment
from gantrain.history_experiment import HistoryExperiment
from gantrain.interfaces import OptimizerSettings, ScheduleSettings
from gantrain.training.ema import STATISTICS
from gantrain.training.nets import Net


class FirstStep:
    """Made before the first step, asked after it. A step that was left out (a loss scale that was too high) proves nothing."""

    def __init__(self, experiment: AnyExperiment) -> None:
        self._nets = [net for net, optimizer in _trained(experiment) if _starts_at_once(optimizer)]
        self._before = {net.role: _copy(net) for net in self._nets}
        training = experiment.spec.training
        self._skips = training.precision == "mixed_float16" or training.on_nonfinite == "skip"

    def check(self) -> None:
        """Raises WiringError for a net that stands still."""
        if self._skips:
            return
        for net in self._nets:
            before, still = self._before[net.role], _still(net, self._before[net.role])
            kernels = [key for key in net.trainable if len(before[key].shape) > 1]
            if kernels and all(key in still for key in kernels):
                message = f"the first step moved no kernel of the {net.role}, so it cannot learn"
                raise WiringError("gradient-zero", net.role, f"{message}; gantrain validate-config CONFIG --deep looks closer")
            frozen = [key for key in still if key.endswith(STATISTICS)]
            if net.role != "generator" and frozen:  # whose statistics may stand still: generator_mode: inference
                message = (
                    f"the first step did not move {frozen[0]}: BatchNorm of the {net.role} runs in inference mode in training"
                )
                raise WiringError("statistics-frozen", net.role, f"{message}; pass `training` on to the layer")


def _trained(experiment: AnyExperiment) -> list[tuple[Net, OptimizerSettings]]:
    """The nets that a first step must move, each with the optimizer that moves it first."""
    if isinstance(experiment, AaeExperiment):
        nets, own = experiment.nets, experiment.spec.optimizers
        return [(nets.encoder, own.reconstruction), (nets.decoder, own.reconstruction), (nets.discriminator, own.discriminator)]
    if isinstance(experiment, HistoryExperiment):  # a warm-up of the window trains nothing
        waits = experiment.spec.history.start == "warm_up"
        return [] if waits else [(experiment.model, experiment.spec.optimizers.model)]
    nets = (experiment.generator, experiment.discriminator)
    return [(net, getattr(experiment.spec.optimizers, net.role)) for net in nets]


def _starts_at_once(optimizer: OptimizerSettings) -> bool:
    """A warm-up starts at a learning rate of 0: its first step moves nothing."""
    rate = optimizer.learning_rate
    return not (isinstance(rate, ScheduleSettings) and rate.warmup_images > 0)


def _copy(net: Net) -> Mapping[str, np.ndarray]:
    return {key: variable.numpy() for key, variable in net.variables.items()}


def _still(net: Net, before: Mapping[str, np.ndarray]) -> list[str]:
    return [key for key, variable in net.variables.items() if variable.numpy().tobytes() == before[key].tobytes()]
