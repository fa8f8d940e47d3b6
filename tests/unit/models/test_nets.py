"""What generators and discriminators share: labels, calls inside a compiled function, dtypes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gantrain import registry
from gantrain.errors import UsageError
from gantrain.interfaces import DiscriminatorOutput, NetContext
from gantrain.models.catalog import DcganDiscriminator, MlpDiscriminator, MlpGenerator

CONTEXT = NetContext((2,), 4, num_classes=3, data_range=None)
LABELS = tf.constant([0, 2], tf.int64)


def test_projection_adds_the_inner_product_of_class_vector_and_features():
    net = registry.build(MlpDiscriminator(units=(5,), conditioning="projection"), CONTEXT)
    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    features = net.extract(x, False).numpy()
    expected = features @ net.head.kernel.numpy()[:, 0] + (net.classes.table.kernel.numpy()[[0, 2]] * features).sum(-1)
    np.testing.assert_allclose(net(x, LABELS).logits, expected, rtol=1e-5)


def test_projection_of_a_map_sums_over_its_positions():
    net = registry.build(DcganDiscriminator(base_width=4, conditioning="projection"), NetContext((8, 8, 1), 4, num_classes=3))
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 8, 8, 1)), tf.float32)
    features = net.extract(x, False).numpy()
    head = features.reshape(2, -1) @ net.head.kernel.numpy()[:, 0]
    expected = head + (net.classes.table.kernel.numpy()[[0, 2]] * features.sum((1, 2))).sum(-1)
    np.testing.assert_allclose(net(x, LABELS).logits, expected, rtol=1e-4, atol=1e-6)


def test_a_spectral_projection_divides_the_class_vectors_by_their_largest_singular_value():
    net = registry.build(MlpDiscriminator(units=(5,), norm="spectral_norm", conditioning="projection"), CONTEXT)
    table = net.classes.table.layer.kernel.numpy()
    for _ in range(30):
        net.classes(LABELS, training=True)
    expected = table[[0, 2]] / np.linalg.svd(table, compute_uv=False)[0]
    np.testing.assert_allclose(net.classes(LABELS), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("shape", "columns"), [((8, 8, 2), 3), ((2,), 4)])
def test_concat_puts_the_class_vector_beside_the_example(shape, columns):
    net = registry.build(MlpDiscriminator(units=(5,), conditioning="concat"), NetContext(shape, 4, num_classes=3))
    assert net.hidden[0].linear.kernel.shape[0] == np.prod(shape[:-1], dtype=int) * columns


def test_embedding_appends_its_vector_to_the_latents():
    net = registry.build(MlpGenerator(units=(5,), conditioning="embedding", embedding_size=6), CONTEXT)
    assert net.hidden[0].linear.kernel.shape == (4 + 6, 5)
    assert net.classes.table.kernel.shape == (3, 6)


def test_a_compiled_call_returns_the_named_output_without_class_logits():
    net = registry.build(MlpDiscriminator(units=(5,)), CONTEXT)
    output = tf.function(lambda x: net(x, training=True))(tf.ones([3, 2]))
    assert isinstance(output, DiscriminatorOutput)
    assert output.logits.shape == (3,)
    assert output.class_logits is None


def test_a_batch_whose_size_is_unknown_is_traced_once():
    net = registry.build(DcganDiscriminator(base_width=4), NetContext((8, 8, 1), 4))
    call = tf.function(lambda x: net(x, training=True).logits, input_signature=[tf.TensorSpec([None, 8, 8, 1])])
    assert [call(tf.zeros([count, 8, 8, 1])).shape[0] for count in (1, 2, 5)] == [1, 2, 5]
    assert call.experimental_get_tracing_count() == 1


def test_conditioning_without_labels_in_the_data_is_refused():
    with pytest.raises(UsageError, match="needs labels"):
        registry.build(MlpGenerator(conditioning="embedding"), NetContext((2,), 4))


def test_inputs_of_another_float_type_are_cast():
    net = registry.build(MlpGenerator(units=(5,)), CONTEXT)
    latents = np.random.default_rng(0).normal(size=(3, 4))
    assert np.array_equal(net(latents), net(latents.astype(np.float32)))
