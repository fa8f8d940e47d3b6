"""Every registered net in every variant, small, with inputs: what the contract tests of nets run over."""

from __future__ import annotations

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.interfaces import DiscriminatorOutput, GeneratorSettings, NetContext, NetSettings

SHAPES = [(28, 28, 1), (64, 64, 3), (48, 96, 3), (8, 8, 1), (2,)]
SMALL = (16, 16, 1)  # two stages of a convolutional net: one more than the least
RANGES = [(-1.0, 1.0), (0.0, 1.0), None, (0.0, 255.0)]
NORMS = ("batch_norm", "layer_norm", "group_norm", "spectral_norm", "pixel_norm")
BATCH = 6


def variants(*kinds: str, only: str = "", without: tuple[str, ...] = ()) -> list:
    """For each registered net its default settings, then each other value of each setting that is a choice."""
    return [
        pytest.param(_narrow(settings), id=f"{row.kind}-{row.name}-{label}")
        for kind in kinds
        for row in registry.rows(kind)
        for label, settings in [("default", row.settings()), *_choices(row)]
        if label == "default" or (label.startswith(only) and not label.startswith(without))
    ]


def _narrow(settings: NetSettings) -> NetSettings:
    """The published width of the residual nets costs seconds a call and shows nothing that a small one does not."""
    return settings.model_copy(update={"width": 8}) if hasattr(settings, "width") else settings


def _choices(row: registry.Row) -> list[tuple[str, NetSettings]]:
    default = row.settings()
    found = []
    for name, schema in row.settings.model_json_schema()["properties"].items():
        values = [value for form in schema.get("anyOf", [schema]) for value in _values(form) if value != getattr(default, name)]
        found += [(f"{name}={value}", row.settings(**{name: value})) for value in values]
    return found


def _values(form: dict) -> list:
    if form.get("type") == "boolean":
        return [False, True]
    return form.get("enum", [form["const"]] if "const" in form else [])


def context_of(shape: tuple[int, ...], **changes) -> NetContext:
    return NetContext(**{"shape": shape, "latent_size": 5, "num_classes": 3, **changes})


def build(settings: NetSettings, context: NetContext) -> keras.Model:
    keras.utils.set_random_seed(7)
    return registry.build(settings, context)


@functools.cache
def default_net(settings: NetSettings, shape: tuple[int, ...]) -> keras.Model:
    """Shared by tests that leave the variables as they are."""
    return build(settings, context_of(shape))


def inputs(settings: NetSettings, shape: tuple[int, ...]) -> tf.Tensor:
    example = (5,) if isinstance(settings, GeneratorSettings) else shape
    return tf.constant(np.random.default_rng(1).normal(size=(BATCH, *example)), tf.float32)


def labels() -> tf.Tensor:
    return tf.constant([0, 1, 2, 0, 1, 2], tf.int64)


def numbers(output) -> tf.Tensor:
    """Everything the net says, [B,...]: with an auxiliary classifier its class logits too."""
    if not isinstance(output, DiscriminatorOutput):
        return output
    if output.class_logits is None:
        return output.logits
    return tf.concat([output.logits[:, tf.newaxis], output.class_logits], axis=-1)


def defaults() -> list:
    return variants("generator", "discriminator", only="default")


ALL = variants("generator", "discriminator", without=("activation", "use_bias"))
COSTLY = [
    case if case.id.endswith("-default") else pytest.param(*case.values, id=case.id, marks=pytest.mark.slow) for case in ALL
]
