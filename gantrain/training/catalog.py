"""Optimizers and schedules of learning rates: settings and names (free of TensorFlow)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gantrain.interfaces import OptimizerSettings, ScheduleSettings
from gantrain.registry import register
from gantrain.spec.component import NumberOrComponent

LearningRate = Annotated[float | ScheduleSettings, NumberOrComponent("schedule")]
Images = Annotated[float, Field(gt=0)]
Beta = Annotated[float, Field(ge=0, lt=1)]


@register("optimizer", "adam", build="gantrain.training.optimizers:Adam")
class Adam(OptimizerSettings):
    """Adam, with the usual GAN momentum of 0.5."""

    learning_rate: LearningRate = 2e-4
    beta_1: Beta = 0.5  # decay of the mean of gradients
    beta_2: Beta = 0.999  # decay of the mean of squared gradients
    epsilon: Annotated[float, Field(gt=0)] = 1e-7


@register("optimizer", "rmsprop", build="gantrain.training.optimizers:RmsProp")
class RmsProp(OptimizerSettings):
    """RMSprop without momentum, as the first Wasserstein GAN used it."""

    learning_rate: LearningRate = 5e-5
    rho: Beta = 0.9  # decay of the mean of squared gradients
    epsilon: Annotated[float, Field(gt=0)] = 1e-7


@register("optimizer", "sgd", build="gantrain.training.optimizers:Sgd")
class Sgd(OptimizerSettings):
    """Gradient descent, optionally with momentum."""

    learning_rate: LearningRate = 1e-2
    momentum: Beta = 0.0


@register("schedule", "constant", build="gantrain.training.rates:build_constant")
class Constant(ScheduleSettings):
    """One learning rate, of use with a warm-up."""


@register("schedule", "linear", build="gantrain.training.rates:build_linear")
class Linear(ScheduleSettings):
    """A straight line from `start` to `end` over so many images, then `end`."""

    end: Annotated[float, Field(ge=0)] = 0.0
    images: Images  # real images seen until `end` is reached


@register("schedule", "cosine", build="gantrain.training.rates:build_cosine")
class Cosine(ScheduleSettings):
    """Half a cosine from `start` to `end` over so many images, then `end`."""

    end: Annotated[float, Field(ge=0)] = 0.0
    images: Images  # real images seen until `end` is reached
