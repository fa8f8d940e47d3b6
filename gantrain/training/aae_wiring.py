"""Whether the nets of task `aae` fit their data and each other. Asked once, when they are built."""

from __future__ import annotations

import tensorflow as tf

from gantrain.aae_interfaces import EncoderOutput
from gantrain.errors import WiringError
from gantrain.spec.aae import AaeSpec
from gantrain.training.aae_assembly import AaeNets
from gantrain.training.nets import Net
from gantrain.training.wiring import COUNT, check_discriminator, check_generator, expect, require_parameters, tried


def check_aae(spec: AaeSpec, nets: AaeNets, shape: tuple[int, ...], num_classes: int | None) -> None:
    """Run all three on zeros. Raises UsageError that says what came out and what must."""
    check_encoder(spec, nets.encoder, shape)
    check_generator(nets.decoder, shape, spec.code_size, num_classes)
    check_discriminator(nets.discriminator, (spec.code_size,), num_classes)


def check_encoder(spec: AaeSpec, encoder: Net, shape: tuple[int, ...]) -> None:
    """Examples in, codes out, by the law that the spec names. Raises WiringError."""
    size, law = spec.code_size, spec.encoder.law
    code = tried(encoder, tf.zeros([COUNT, *shape]))
    if not isinstance(code, EncoderOutput):
        message = f"the encoder gives a {type(code).__name__}; it must give an EncoderOutput(mean [B,Z], log_std)"
        raise WiringError("output-shape", "encoder", message)
    expect("encoder", code.mean, (COUNT, size))
    if (code.log_std is None) != (law == "deterministic"):
        message = f"the encoder's law is {law}, which {'needs a' if code.log_std is None else 'has no'} log_std"
        raise WiringError("output-shape", "encoder", message)
    if code.log_std is not None:
        expect("encoder", code.log_std, (COUNT, size))
    require_parameters([encoder])
