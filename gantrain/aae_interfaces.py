"""What the components of task `aae` alone are (free of TensorFlow); its decoders are generators, its laws of codes are priors."""

from __future__ import annotations

from typing import Literal, NamedTuple

from gantrain.interfaces import NetSettings, Tensor


class EncoderSettings(NetSettings):
    """Builder: (settings, NetContext) -> Keras model: (x [B,*shape], training) -> EncoderOutput."""

    # deterministic: one code per example | gaussian: drawn from N(mean, std^2), both of them the net's (reparameterised)
    law: Literal["deterministic", "gaussian"] = "deterministic"


class EncoderOutput(NamedTuple):
    """`mean` [B,Z] float32, the code; `log_std` [B,Z] float32 of a Gaussian law, or None."""

    mean: Tensor
    log_std: Tensor | None = None
