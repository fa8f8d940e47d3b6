"""The residual nets of SNGAN: published parameter counts, and other sizes."""

from __future__ import annotations

import numpy as np
import pytest

from gantrain import registry
from gantrain.interfaces import NetContext
from gantrain.models.catalog import SnganDiscriminator, SnganGenerator

CIFAR = NetContext((32, 32, 3), 128, num_classes=10)


def size(net):
    return sum(int(np.prod(variable.shape)) for variable in net.trainable_variables)


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        (SnganGenerator(), 4_276_739),
        (SnganGenerator(conditioning="conditional_batch_norm"), 4_304_387),
        (SnganDiscriminator(), 1_053_825),
        (SnganDiscriminator(norm="none"), 1_053_825),
        (SnganDiscriminator(conditioning="projection"), 1_055_105),
    ],
)
def test_the_32_pixel_nets_have_the_published_number_of_parameters(settings, count):
    assert size(registry.build(settings, CIFAR)) == count


@pytest.mark.parametrize(("side", "ups", "downs"), [(8, 1, 1), (28, 2, 1), pytest.param(64, 4, 3, marks=pytest.mark.slow)])
def test_other_sizes_have_as_many_blocks_as_halving_gives(side, ups, downs):
    context = NetContext((side, side, 1), 8)
    generator = registry.build(SnganGenerator(width=4), context)
    discriminator = registry.build(SnganDiscriminator(width=4), context)
    assert len(generator.blocks) == ups
    assert sum(block.shrinks for block in discriminator.blocks) == downs
    assert len(discriminator.blocks) == downs + 2
