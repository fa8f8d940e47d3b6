"""Every registered encoder: its form for any batch, its law, its norms, names of its own, the same weights for one seed."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.aae_interfaces import EncoderOutput
from gantrain.interfaces import NetContext
from gantrain.models.norms import GroupNorm, LayerNorm
from gantrain.state import net_variables, trainable_variables

SHAPE, SIZE = (16, 16, 1), 5
NAMES = registry.names("encoder")


def choices(name: str, setting: str) -> list:
    row = registry.find("encoder", name)
    assert row is not None
    return row.settings.model_json_schema()["properties"][setting]["enum"]


VARIANTS = [(name, {"norm": norm}) for name in NAMES for norm in choices(name, "norm")]
VARIANTS += [(name, {"law": "gaussian"}) for name in NAMES] + [("dcgan", {"resample": "blur"}), ("dcgan", {"attention": 8})]


def built(name: str, changes: dict, dtype: str = "float32") -> keras.Model:
    keras.utils.set_random_seed(7)
    row = registry.find("encoder", name)
    assert row is not None
    return registry.build(row.settings(**changes), NetContext(SHAPE, SIZE, dtype=dtype))


def examples(count: int = 6) -> tf.Tensor:
    return tf.constant(np.random.default_rng(1).normal(size=(count, *SHAPE)), tf.float32)


@pytest.mark.parametrize(("name", "changes"), VARIANTS)
def test_an_encoder_gives_codes_of_its_law_and_facts_that_are_true(name, changes):
    net, row = built(name, changes), registry.find("encoder", name)
    settings = row.settings(**changes)
    output = net(examples(), training=True)
    assert isinstance(output, EncoderOutput)
    assert (output.mean.shape, output.mean.dtype) == ((6, SIZE), tf.float32)
    assert (output.log_std is None) == (settings.law == "deterministic")
    found = {key.split("/")[-1] for key in net_variables("encoder", net)}
    assert ("moving_mean" in found) == ("batch_norm" in settings.norms())
    assert ("singular_vector" in found) == ("spectral_norm" in settings.norms())
    layers = [type(layer) for layer in net._flatten_layers()]
    assert (LayerNorm in layers) == ("layer_norm" in settings.norms())
    assert (GroupNorm in layers) == ("group_norm" in settings.norms())
    assert trainable_variables("encoder", net)
    assert settings.buildable(SHAPE) is None


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_size_known_only_at_run_time_gives_the_same_codes(name):
    net = built(name, {"law": "gaussian", "norm": "none"})
    compiled = tf.function(lambda x: net(x, training=False), input_signature=[tf.TensorSpec([None, *SHAPE])])
    for count in (6, 1):
        for symbolic, eager in zip(compiled(examples(count)), net(examples(count), training=False), strict=True):
            np.testing.assert_allclose(symbolic, eager, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_codes_are_float32_under_mixed_precision_and_start_almost_deterministic(name):
    output = built(name, {"law": "gaussian"}, "mixed_bfloat16")(examples(), training=True)
    assert output.mean.dtype == output.log_std.dtype == tf.float32
    assert np.abs(np.asarray(output.log_std) + 2.0).max() < 1.0


@pytest.mark.parametrize("name", NAMES)
def test_one_seed_gives_one_set_of_weights_under_names_that_do_not_depend_on_what_was_built_before(name):
    first, second = (net_variables("encoder", built(name, {"norm": "batch_norm"})) for _ in range(2))
    assert first.keys() == second.keys()
    for key in first:
        assert np.array_equal(first[key].numpy(), second[key].numpy()), key


def test_an_encoder_of_stages_refuses_vectors():
    row = registry.find("encoder", "dcgan")
    assert "mlp" in str(row.settings().buildable((7,)))
