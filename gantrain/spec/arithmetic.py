"""How many batches and steps a spec means. Exact integers, shared by the static rules, the data order and the engine."""

from __future__ import annotations

from gantrain.spec.model import Data
from gantrain.spec.tasks import AnySpec


def batches_per_epoch(data: Data, length: int) -> int | None:
    """Batches in one pass over `length` examples; None for `continue`, whose batches run across epochs.

    partial: ceil(N/B), drop: floor(N/B), with N examples and batch size B.
    """
    if data.epoch_end == "continue":
        return None
    return _ceil_div(length, data.batch_size) if data.epoch_end == "partial" else length // data.batch_size


def total_steps(spec: AnySpec, length: int) -> int:
    """Steps of the whole run; zero is possible and judged by the rule `zero-steps`.

    For `epochs: E`, with d discriminator updates per step: continue ceil(E*N/(B*d)), partial floor(E*ceil(N/B)/d),
    drop floor(E*floor(N/B)/d).
    """
    training = spec.training
    if training.steps is not None:
        return training.steps
    epochs, updates = training.epochs or 0, spec.batches_per_step
    batches = batches_per_epoch(spec.data, length)
    if batches is None:
        return _ceil_div(epochs * length, spec.data.batch_size * updates)
    return epochs * batches // updates


def known_steps(spec: AnySpec, length: int | None) -> int | None:
    """Steps of the whole run, or None while they depend on something that is not known."""
    if spec.training.steps is not None:
        return spec.training.steps
    return None if spec.training.epochs is None or length is None else total_steps(spec, length)


def _ceil_div(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
