"""A linear layer with all that follows it: the stage of the plain nets, and where each normalisation stands."""

from __future__ import annotations

from dataclasses import dataclass

import keras

from gantrain.interfaces import Tensor
from gantrain.models.layers import BatchNorm, Dropout, leaky_relu
from gantrain.models.norms import ConditionalBatchNorm, GroupNorm, LayerNorm, PixelNorm

SHIFTING_NORMS = ("batch_norm", "layer_norm", "group_norm")  # those that have a shift of their own, which replaces a bias


@dataclass(frozen=True)
class Finish:
    """What follows a linear layer: norm -> leaky ReLU -> dropout."""

    norm: str  # batch_norm | layer_norm | group_norm | pixel_norm | spectral_norm (of the linear layer itself) | none
    norm_momentum: float
    norm_std: float | None  # of BatchNorm's gamma around 1 at the start; None: exactly 1
    negative_slope: float  # of the leaky ReLU; 0 is a plain ReLU
    dropout: float  # share of the features dropped; 0: no such layer
    dtype: str  # Keras policy
    num_classes: int | None = None  # with conditional BatchNorm: a gamma and a beta for each


class Block(keras.layers.Layer):
    """linear -> norm -> leaky ReLU -> dropout."""

    def __init__(self, name: str, linear: keras.layers.Layer, finish: Finish) -> None:
        super().__init__(name=name, dtype=finish.dtype)
        self.linear = linear
        self.norm = make_norm(finish, "norm")
        self.slope = finish.negative_slope
        self.dropout = Dropout(finish.dropout, "dropout", finish.dtype) if finish.dropout else None

    def call(self, x: Tensor, training: bool = False, labels: Tensor | None = None) -> Tensor:
        """[B,...,n] -> [B,...,m], the shape that the linear layer makes."""
        return self.finish(apply(self.linear, x, training), training, labels)

    def finish(self, x: Tensor, training: bool, labels: Tensor | None = None) -> Tensor:
        """All but the linear layer; the shape stays."""
        x = apply(self.norm, x, training, labels)
        x = leaky_relu(x, self.slope)
        return x if self.dropout is None else self.dropout(x, training=training)


def make_norm(finish: Finish, name: str) -> keras.layers.Layer | None:
    """The normalisation of the features; None for none, and for that of the weights."""
    if finish.norm == "batch_norm" and finish.num_classes is not None:
        return ConditionalBatchNorm(name, finish.num_classes, finish.norm_momentum, finish.norm_std, finish.dtype)
    if finish.norm == "batch_norm":
        return BatchNorm(name, finish.norm_momentum, finish.norm_std, finish.dtype)
    plain = {"layer_norm": LayerNorm, "group_norm": GroupNorm, "pixel_norm": PixelNorm}.get(finish.norm)
    return None if plain is None else plain(name=name, dtype=finish.dtype)


def apply(layer: keras.layers.Layer | None, x: Tensor, training: bool, labels: Tensor | None = None) -> Tensor:
    """Call a layer with what it takes; None is the identity."""
    if layer is None:
        return x
    if isinstance(layer, ConditionalBatchNorm):
        return layer(x, training=training, labels=labels)
    return layer(x, training=training) if getattr(layer, "_call_has_training_arg", False) else layer(x)
