"""Spectral normalisation that differentiates through sigma (Keras' own layer overwrites the kernel and does not)."""

from __future__ import annotations

import keras
import tensorflow as tf

from gantrain.interfaces import Tensor
from gantrain.models.convolutions import convolve, convolve_transposed


class SpectralNorm(keras.layers.Layer):
    """A linear layer whose kernel is divided by its largest singular value (Miyato et al. 2018, arXiv:1802.05957).

    The raw kernel W stays the parameter and sigma = v^T W u is differentiated (u and v are constants). One power iteration per
    call; a training-mode call keeps its u. Always float32.
    """

    def __init__(self, layer: keras.layers.Layer, dtype: str | None = None) -> None:
        """`layer`: Dense, Conv2D or Conv2DTranspose."""
        super().__init__(name=f"spectral_{layer.name}", dtype=dtype)
        self.layer = layer

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Create the layer's variables and the vector u [outputs], of length 1."""
        self.layer.build(input_shape)
        outputs = self._matrix().shape[-1]
        self.singular_vector = self.add_weight(
            name="singular_vector",
            shape=(outputs,),
            initializer=UnitVector(),
            dtype="float32",
            trainable=False,
            autocast=False,
        )

    def call(self, x: Tensor, training: bool = False) -> Tensor:
        """As the layer does."""
        kernel = self.kernel(training)
        y = self._apply(tf.cast(x, self.layer.compute_dtype), tf.cast(kernel, self.layer.compute_dtype))
        return y + tf.cast(tf.convert_to_tensor(self.layer.bias.value), y.dtype) if self.layer.use_bias else y

    def kernel(self, training: bool) -> Tensor:
        """The normalised kernel, float32; one power iteration."""
        return tf.cast(tf.convert_to_tensor(self.layer.kernel.value), tf.float32) / self._sigma(training)

    def _sigma(self, training: bool) -> Tensor:
        """v = W u / |W u|, u' = W^T v / |W^T v|, sigma = v^T W u'."""
        matrix = self._matrix()
        old = tf.convert_to_tensor(self.singular_vector)[:, tf.newaxis]
        left = tf.stop_gradient(tf.math.l2_normalize(tf.matmul(matrix, old), epsilon=1e-24))
        right = tf.stop_gradient(tf.math.l2_normalize(tf.matmul(matrix, left, transpose_a=True), epsilon=1e-24))
        if training:
            self.singular_vector.assign(right[:, 0])
        return tf.matmul(left, tf.matmul(matrix, right), transpose_a=True)[0, 0]

    def _matrix(self) -> Tensor:
        """The kernel as [everything else, outputs]."""
        kernel = tf.cast(tf.convert_to_tensor(self.layer.kernel.value), tf.float32)
        if isinstance(self.layer, keras.layers.Conv2DTranspose):
            kernel = tf.transpose(kernel, [0, 1, 3, 2])
        return tf.reshape(kernel, [-1, kernel.shape[-1]])

    def _apply(self, x: Tensor, kernel: Tensor) -> Tensor:
        if isinstance(self.layer, keras.layers.Dense):
            return tf.matmul(x, kernel)
        stride = self.layer.strides[0]
        if isinstance(self.layer, keras.layers.Conv2DTranspose):
            return convolve_transposed(x, kernel, stride)
        return convolve(x, kernel, stride)


def spectral(layer: keras.layers.Layer, wanted: bool, dtype: str | None = None) -> keras.layers.Layer:
    """The layer, with spectral normalisation if that is wanted."""
    return SpectralNorm(layer, dtype) if wanted else layer


class UnitVector(keras.initializers.RandomNormal):
    """A random direction; its seed is drawn like that of every other initializer."""

    def __call__(self, shape: tuple[int, ...], dtype: str | None = None) -> Tensor:
        """[n], of length 1."""
        drawn: Tensor = super().__call__(shape, dtype="float32")
        return tf.cast(tf.math.l2_normalize(drawn, epsilon=1e-24), dtype or "float32")
