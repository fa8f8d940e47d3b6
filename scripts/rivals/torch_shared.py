"""PyTorch with one generator and one discriminator forward on the fakes for both updates: the least work a step can be."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import torch
from _worker import LATENT
from torch_example import cross_entropy, main


def shared_step(nets: tuple, optimizers: tuple, real: torch.Tensor, cast: Callable[[], AbstractContextManager]) -> float:
    """Both gradients at the same weights."""
    generator, discriminator = nets
    with cast():
        fake = generator(torch.randn(len(real), LATENT))
        real_logits, fake_logits = discriminator(real), discriminator(fake)
        loss = cross_entropy(real_logits, 1.0) + cross_entropy(fake_logits, 0.0)
        own = cross_entropy(fake_logits, 1.0)
    for net, value, keep in ((generator, own, True), (discriminator, loss, False)):
        parameters = list(net.parameters())
        for parameter, gradient in zip(parameters, torch.autograd.grad(value, parameters, retain_graph=keep), strict=True):
            parameter.grad = gradient
    for optimizer in optimizers:
        optimizer.step()
    return own.item()


if __name__ == "__main__":
    main(shared_step)
