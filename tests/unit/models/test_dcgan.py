"""DCGAN: the two published nets, parameter for parameter, and widths, names and starting weights."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from gantrain import registry
from gantrain.interfaces import NetContext
from gantrain.models.catalog import DcganDiscriminator, DcganGenerator

PYTORCH_64 = NetContext((64, 64, 3), 100)
TENSORFLOW_28 = NetContext((28, 28, 1), 100)


def size(variables: list[keras.Variable]) -> int:
    return sum(int(np.prod(variable.shape)) for variable in variables if "seeds" not in variable.path)


def kernels(net: keras.Model) -> dict[str, tuple[int, ...]]:
    return {variable.path: tuple(variable.shape) for variable in net.variables if variable.path.endswith("kernel")}


def test_the_64_pixel_net_of_the_pytorch_example_has_its_parameters():
    generator = registry.build(DcganGenerator(use_bias=False), PYTORCH_64)
    discriminator = registry.build(DcganDiscriminator(use_bias=False), PYTORCH_64)
    assert size(generator.trainable_variables) == 3_576_704
    assert size(discriminator.trainable_variables) == 2_765_568
    assert kernels(generator) == {
        "generator/seed/dense/kernel": (100, 4 * 4 * 512),
        "generator/stage1/conv/kernel": (4, 4, 256, 512),
        "generator/stage2/conv/kernel": (4, 4, 128, 256),
        "generator/stage3/conv/kernel": (4, 4, 64, 128),
        "generator/out/kernel": (4, 4, 3, 64),
    }
    assert kernels(discriminator) == {
        "discriminator/stage1/conv/kernel": (4, 4, 3, 64),
        "discriminator/stage2/conv/kernel": (4, 4, 64, 128),
        "discriminator/stage3/conv/kernel": (4, 4, 128, 256),
        "discriminator/stage4/conv/kernel": (4, 4, 256, 512),
        "discriminator/head/kernel": (4 * 4 * 512, 1),
    }
    assert {variable.shape[0] for variable in generator.variables if variable.path.startswith("generator/seed/norm")} == {512}


def test_the_28_pixel_net_of_the_tensorflow_tutorial_has_its_parameters():
    generator = registry.build(
        DcganGenerator(kernel_size=5, refine=True, seed_norm="units", use_bias=False, negative_slope=0.3, initial_std=None),
        TENSORFLOW_28,
    )
    discriminator = registry.build(
        DcganDiscriminator(kernel_size=5, norm="none", use_bias=True, negative_slope=0.3, dropout=0.3, initial_std=None),
        TENSORFLOW_28,
    )
    assert size(generator.variables) == 2_330_944
    assert size(generator.trainable_variables) == 2_305_472
    assert size(discriminator.variables) == 212_865
    assert kernels(generator) == {
        "generator/seed/dense/kernel": (100, 7 * 7 * 256),
        "generator/refine/conv/kernel": (5, 5, 128, 256),
        "generator/stage1/conv/kernel": (5, 5, 64, 128),
        "generator/out/kernel": (5, 5, 1, 64),
    }
    assert {variable.shape[0] for variable in generator.variables if variable.path.startswith("generator/seed/norm")} == {12_544}
    assert len([variable for variable in discriminator.variables if "dropout" in variable.path]) == 2


def test_weights_start_with_the_published_standard_deviation_or_glorot():
    net = registry.build(DcganDiscriminator(), TENSORFLOW_28)
    assert net.stages[1].linear.kernel.numpy().std() == pytest.approx(0.02, rel=0.02)
    net = registry.build(DcganDiscriminator(initial_std=None), TENSORFLOW_28)
    assert net.stages[1].linear.kernel.numpy().std() == pytest.approx((2 / (16 * (64 + 128))) ** 0.5, rel=0.02)


def test_no_stage_is_wider_than_the_limit():
    settings = DcganDiscriminator(base_width=8, max_width=12)
    widths = [shape[-1] for shape in kernels(registry.build(settings, PYTORCH_64)).values()]
    assert sorted(widths) == [1, 8, 12, 12, 12]


def test_biases_come_where_no_norm_follows_unless_set():
    paths = [variable.path for variable in registry.build(DcganDiscriminator(), TENSORFLOW_28).variables]
    assert [path for path in paths if path.endswith("bias")] == ["discriminator/head/bias", "discriminator/stage1/conv/bias"]


@pytest.mark.parametrize(("shape", "seed"), [((20, 12, 2), (5, 3)), ((12, 40, 1), (6, 20))])
def test_rectangles_start_from_a_map_of_their_own_proportions(shape, seed):
    stages = {(5, 3): 2, (6, 20): 1}[seed]
    net = registry.build(DcganGenerator(base_width=4, stages=stages), NetContext(shape, 3))
    assert net.seed.map_shape[:2] == seed
    assert net(np.zeros((2, 3), np.float32)).shape == (2, *shape)


def test_no_stages_leave_one_convolution_of_stride_one():
    context = NetContext((5, 7, 1), 3)
    generator = registry.build(DcganGenerator(base_width=4, stages=0), context)
    discriminator = registry.build(DcganDiscriminator(base_width=4, stages=0), context)
    assert kernels(generator) == {"generator/seed/dense/kernel": (3, 5 * 7 * 4), "generator/out/kernel": (4, 4, 1, 4)}
    assert kernels(discriminator) == {
        "discriminator/stage1/conv/kernel": (4, 4, 1, 4),
        "discriminator/head/kernel": (5 * 7 * 4, 1),
    }
    assert discriminator(generator(np.zeros((2, 3), np.float32))).logits.shape == (2,)
