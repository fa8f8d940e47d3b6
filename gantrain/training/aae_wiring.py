"""Whether the nets of task `aae` fit their data and each other. Asked once, when they are built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from gantrain.aae_interfaces import EncoderOutput
from gantrain.errors import UsageError, in_words
from gantrain.spec.aae import AaeSpec
from gantrain.training.aae_assembly import AaeNets
from gantrain.training.wiring import COUNT, check_discriminator, expect, require_parameters, tried


def check_aae(spec: AaeSpec, nets: AaeNets, shape: tuple[int, ...], num_classes: int | None) -> None:
    """Run all three on zeros. Raises UsageError that says what came out and what must."""
    labels, size = None if num_classes is None else tf.zeros([COUNT], tf.int64), spec.code_size
    code = _tried_encoder(nets.encoder.model, tf.zeros([COUNT, *shape]))
    if not isinstance(code, EncoderOutput):
        raise UsageError(f"the encoder gives a {type(code).__name__}; it must give an EncoderOutput(mean [B,Z], log_std)")
    expect("encoder", code.mean, (COUNT, size))
    if (code.log_std is None) != (spec.encoder.law == "deterministic"):
        raise UsageError(
            f"the encoder's law is {spec.encoder.law}, which {'needs a' if code.log_std is None else 'has no'} log_std"
        )
    if code.log_std is not None:
        expect("encoder", code.log_std, (COUNT, size))
    expect("decoder", tried(nets.decoder, tf.zeros([COUNT, size]), labels), (COUNT, *shape))
    check_discriminator(nets.discriminator, (size,), num_classes)
    require_parameters(nets.all)


def _tried_encoder(encoder: Callable[..., Any], examples: Any) -> Any:
    try:
        return encoder(examples, training=False)
    except UsageError:
        raise
    except Exception as error:  # whatever a plugin's net raises, on inputs of the promised form, is its author's to mend
        raise UsageError(f"the encoder fails on inputs {list(examples.shape)}: {in_words(error)}") from error
