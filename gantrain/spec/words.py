"""Words of messages that are used in several places."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

# What people from other tools and papers write -> our name. For hints only: these names are not accepted.
OTHER_NAMES = {
    "wgan": "wasserstein",
    "wgan-gp": "wasserstein",
    "wgan_gp": "wasserstein",
    "gp": "gradient_penalty",
    "bce": "non_saturating",
    "binary_crossentropy": "non_saturating",
    "vanilla": "non_saturating",
    "gan": "non_saturating",
    "logistic": "non_saturating",
    "standard": "non_saturating",
    "ns": "non_saturating",
    "mse": "lsgan",
    "least_squares": "lsgan",
    "saturating": "minimax",
    "ragan": "relativistic_average",
    "relativistic": "rpgan",
    "r3gan": "rpgan",
    "resnet": "sngan_resnet",
    "sngan": "sngan_resnet",
    "conv": "dcgan",
    "cnn": "dcgan",
    "dense": "mlp",
    "fc": "mlp",
    "folder": "image_folder",
    "images": "image_folder",
    "imagefolder": "image_folder",
    "mnist": "keras_cache",
    "cifar10": "keras_cache",
    "npz": "arrays",
    "npy": "arrays",
    "numpy": "arrays",
    "gaussian": "normal",
    "weight_clipping": "clip_weights",
    "clip": "clip_weights",
    "lr": "learning_rate",
    "beta1": "beta_1",
    "beta2": "beta_2",
    "betas": "beta_1",
    "batch": "batch_size",
    "batchsize": "batch_size",
    "n_critic": "discriminator_steps",
    "critic": "discriminator",
    "latent_dim": "size",
    "z_dim": "size",
    "dim": "size",
    "fp16": "mixed_float16",
    "float16": "mixed_float16",
    "bf16": "mixed_bfloat16",
    "bfloat16": "mixed_bfloat16",
    "fp32": "float32",
    "batchnorm": "batch_norm",
    "bn": "batch_norm",
    "spectral": "spectral_norm",
    "spectralnorm": "spectral_norm",
    "sn": "spectral_norm",
    "layernorm": "layer_norm",
    "iterations": "steps",
    "epoch": "epochs",
    "filters": "base_width",
    "channels": "base_width",
    "shuffle": "shuffle_buffer",
    "buffer_size": "shuffle_buffer",
}


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean X?`, or the list of what is known."""
    choices = sorted(known)
    other = OTHER_NAMES.get(name.lower())
    near = [other] if other in choices else difflib.get_close_matches(name, choices, 1)
    near = near or difflib.get_close_matches(name.lower(), choices, 1)
    return f"did you mean {near[0]}?" if near else f"known are: {', '.join(choices) or 'none'}"


def with_article(noun: str) -> str:
    """`a loss`, `an optimizer`."""
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def plain_number(value: float) -> str:
    """As a person writes it: whole numbers below 10^15 with all their digits, others short."""
    whole = float(value).is_integer() and abs(value) < 1e15
    return f"{int(value)}" if whole else f"{value:g}"


def shown(value: Any) -> str:
    """A short form of a value for a message."""
    if isinstance(value, dict | list):
        return (
            ("a mapping" if value else "an empty mapping")
            if isinstance(value, dict)
            else ("a list" if value else "an empty list")
        )
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = f"the text {value!r}" if isinstance(value, str) else f"{value}"
    return text if len(text) <= 60 else text[:57] + "..."
