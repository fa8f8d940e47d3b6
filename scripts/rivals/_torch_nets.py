"""The networks of the workloads as PyTorch users write them."""

from __future__ import annotations

import torch
from _worker import LATENT
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm


def build(name: str) -> tuple[nn.Module, nn.Module]:
    """(generator, discriminator with one logit); latents are [B,LATENT]."""
    return {"W1": _dense, "W2": _tutorial, "W3": _dcgan, "W4": _sngan}[name]()


def _dense() -> tuple[nn.Module, nn.Module]:
    layers: list[nn.Module] = []
    for inputs, units in ((LATENT, 256), (256, 512), (512, 1024)):
        layers += [nn.Linear(inputs, units, bias=False), nn.BatchNorm1d(units), nn.ReLU(True)]
    generator = nn.Sequential(*layers, nn.Linear(1024, 784), nn.Tanh(), nn.Unflatten(1, (1, 28, 28)))
    leaky = nn.LeakyReLU(0.2)
    return generator, nn.Sequential(nn.Flatten(), nn.Linear(784, 512), leaky, nn.Linear(512, 256), leaky, nn.Linear(256, 1))


def _up(inputs: int, outputs: int, size: int, stride: int) -> nn.Module:
    """Doubles the map, or keeps it."""
    padding = (size - stride + 1) // 2
    return nn.ConvTranspose2d(inputs, outputs, size, stride, padding, stride - size + 2 * padding, bias=False)


def _tutorial() -> tuple[nn.Module, nn.Module]:
    leaky = nn.LeakyReLU(0.3)
    layers = [nn.Linear(LATENT, 12544, bias=False), nn.BatchNorm1d(12544), leaky, nn.Unflatten(1, (256, 7, 7))]
    layers += [_up(256, 128, 5, 1), nn.BatchNorm2d(128), leaky, _up(128, 64, 5, 2), nn.BatchNorm2d(64), leaky]
    generator = nn.Sequential(*layers, _up(64, 1, 5, 2), nn.Tanh())
    layers = [nn.Conv2d(1, 64, 5, 2, 2), leaky, nn.Dropout(0.3), nn.Conv2d(64, 128, 5, 2, 2), leaky, nn.Dropout(0.3)]
    return generator, nn.Sequential(*layers, nn.Flatten(), nn.Linear(6272, 1))


def _dcgan() -> tuple[nn.Module, nn.Module]:
    layers: list[nn.Module] = [nn.Unflatten(1, (LATENT, 1, 1)), nn.ConvTranspose2d(LATENT, 512, 4, 1, 0, bias=False)]
    for inputs, outputs in ((512, 256), (256, 128), (128, 64)):
        layers += [nn.BatchNorm2d(inputs), nn.ReLU(True), _up(inputs, outputs, 4, 2)]
    generator = nn.Sequential(*layers, nn.BatchNorm2d(64), nn.ReLU(True), _up(64, 3, 4, 2), nn.Tanh())
    layers = [nn.Conv2d(3, 64, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, True)]
    for inputs, outputs in ((64, 128), (128, 256), (256, 512)):
        layers += [nn.Conv2d(inputs, outputs, 4, 2, 1, bias=False), nn.BatchNorm2d(outputs), nn.LeakyReLU(0.2, True)]
    return generator, nn.Sequential(*layers, nn.Conv2d(512, 1, 4, 1, 0, bias=False), nn.Flatten())


class _UpBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        up = nn.Upsample(scale_factor=2)
        self.main = nn.Sequential(
            nn.BatchNorm2d(width), nn.ReLU(), up, nn.Conv2d(width, width, 3, 1, 1),
            nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1),
        )  # fmt: skip
        self.shortcut = nn.Sequential(up, nn.Conv2d(width, width, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.main(x) + self.shortcut(x)


class _DownBlock(nn.Module):
    def __init__(self, inputs: int, width: int, shrinks: bool) -> None:
        super().__init__()
        first = inputs != width
        convolutions = [spectral_norm(nn.Conv2d(size, width, 3, 1, 1)) for size in (inputs, width)]
        pool = [nn.AvgPool2d(2)] if shrinks else []
        self.main = nn.Sequential(*([] if first else [nn.ReLU()]), convolutions[0], nn.ReLU(), convolutions[1], *pool)
        one = [spectral_norm(nn.Conv2d(inputs, width, 1))] if shrinks else []
        self.shortcut = nn.Sequential(*pool, *one) if first else nn.Sequential(*one, *pool)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.main(x) + self.shortcut(x)


def _sngan(width: int = 64) -> tuple[nn.Module, nn.Module]:
    blocks = [_UpBlock(width) for _ in range(3)]
    last = [nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, 3, 3, 1, 1), nn.Tanh()]
    generator = nn.Sequential(nn.Linear(LATENT, 16 * width), nn.Unflatten(1, (width, 4, 4)), *blocks, *last)
    downs = [_DownBlock(3, width, True), _DownBlock(width, width, True), *(_DownBlock(width, width, False) for _ in range(2))]
    head = [nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), spectral_norm(nn.Linear(width, 1))]
    return generator, nn.Sequential(*downs, *head)
