"""The loop of PyTorch's own DCGAN example, in the memory format that is faster on a CPU; `shared` by torch_shared.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import torch
from _torch_nets import build
from _worker import LATENT, WORKLOADS, arguments, pictures, serve
from torch.nn.functional import binary_cross_entropy_with_logits


def cross_entropy(logits: torch.Tensor, target: float) -> torch.Tensor:
    """Mean over the batch."""
    return binary_cross_entropy_with_logits(logits.float(), torch.full_like(logits, target, dtype=torch.float32))


def example_step(nets: tuple, optimizers: tuple, real: torch.Tensor, cast: Callable[[], AbstractContextManager]) -> float:
    """The discriminator's update, then the generator's through the updated discriminator."""
    generator, discriminator = nets
    discriminator.zero_grad(set_to_none=True)
    with cast():
        loss = cross_entropy(discriminator(real), 1.0)
    loss.backward()
    with cast():
        fake = generator(torch.randn(len(real), LATENT))
        loss = cross_entropy(discriminator(fake.detach()), 0.0)
    loss.backward()
    optimizers[1].step()
    generator.zero_grad(set_to_none=True)
    with cast():
        own = cross_entropy(discriminator(fake), 1.0)
    own.backward()
    optimizers[0].step()
    return own.item()


def batches(name: str) -> Iterator[torch.Tensor]:
    """Endless shuffled batches [B,C,H,W] in [-1, 1], channels last in memory."""
    images, batch = torch.from_numpy(pictures(WORKLOADS[name])), WORKLOADS[name].batch
    while True:
        for indices in torch.randperm(len(images)).split(batch):
            if len(indices) == batch:
                yield (images[indices].float() / 127.5 - 1.0).permute(0, 3, 1, 2)  # channels last in memory as it is


def main(step: Callable[..., float] = example_step) -> None:
    """Train as long as the benchmark asks."""
    name, precision = arguments()
    torch.manual_seed(1)
    nets = tuple(net.to(memory_format=torch.channels_last) for net in build(name))
    workload, data = WORKLOADS[name], batches(name)
    optimizers = tuple(
        torch.optim.Adam(net.parameters(), workload.learning_rate, (workload.beta_1, 0.999), fused=True) for net in nets
    )

    def cast() -> AbstractContextManager:
        return torch.autocast("cpu", torch.bfloat16) if precision == "bfloat16" else nullcontext()

    def run(steps: int) -> None:
        for _ in range(steps):
            step(nets, optimizers, next(data), cast)

    serve(workload.batch, run)


if __name__ == "__main__":
    main()
