"""How each net of a task is built and tried by itself, so that the faults of one do not hide those of another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from gantrain.aae_experiment import build_aae_net, num_classes
from gantrain.data.pairing import pairing_of
from gantrain.experiment import build_net
from gantrain.history_experiment import build_model
from gantrain.interfaces import Source
from gantrain.manifest import DataFacts
from gantrain.spec.aae import AaeSpec
from gantrain.spec.history import HistorySpec
from gantrain.spec.model import Spec
from gantrain.spec.tasks import AnySpec
from gantrain.training.aae_wiring import check_encoder
from gantrain.training.assembly import labels_used
from gantrain.training.history_wiring import check_model, check_window_loss
from gantrain.training.nets import Net
from gantrain.training.wiring import check_discriminator, check_generator, check_plugins


@dataclass(frozen=True)
class Plan:
    """How to build a net by itself, how to try it, and how to try the objective's components on it. All raise UsageError."""

    build: Callable[[], Net]
    check: Callable[[Net], None]
    check_objective: Callable[[Net], None] = lambda _: None


def plans(spec: AnySpec, source: Source) -> dict[str, Plan]:
    """By role."""
    data = DataFacts.of(source, spec.data.range)
    if isinstance(spec, AaeSpec):
        return _of_aae(spec, data)
    return _of_history(spec, data, source) if isinstance(spec, HistorySpec) else _of_gan(spec, data)


def _of_gan(spec: Spec, data: DataFacts) -> dict[str, Plan]:
    classes = (len(data.class_names) or None) if labels_used(spec) else None
    law = spec.latent.distribution, spec.latent.size
    return {
        "generator": Plan(
            lambda: build_net(spec, "generator", data), lambda net: check_generator(net, data.shape, law[1], classes)
        ),
        "discriminator": Plan(
            lambda: build_net(spec, "discriminator", data),
            lambda net: check_discriminator(net, data.shape, classes),
            lambda net: check_plugins(spec.objective, law, net, data.shape, classes),
        ),
    }


def _of_aae(spec: AaeSpec, data: DataFacts) -> dict[str, Plan]:
    classes, size = num_classes(spec, data), spec.code_size
    return {
        "encoder": Plan(partial(build_aae_net, spec, "encoder", data), lambda net: check_encoder(spec, net, data.shape)),
        "decoder": Plan(
            partial(build_aae_net, spec, "decoder", data), lambda net: check_generator(net, data.shape, size, classes)
        ),
        "discriminator": Plan(
            partial(build_aae_net, spec, "discriminator", data),
            lambda net: check_discriminator(net, (size,), classes),
            lambda net: check_plugins(spec.objective, (spec.prior, size), net, (size,), classes),
        ),
    }


def _of_history(spec: HistorySpec, data: DataFacts, source: Source) -> dict[str, Plan]:
    pairing = pairing_of(source)
    if pairing is None:
        return {}
    return {
        "model": Plan(
            lambda: build_model(spec, data),
            lambda net: check_model(spec, net, data.shape),
            lambda _: check_window_loss(spec, pairing.size),
        )
    }
