"""Whether two nets fit their data and each other: asked once, when they are built, because a plugin's net can be anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from gantrain.errors import UsageError
from gantrain.interfaces import DiscriminatorOutput, Tensor
from gantrain.training.nets import Net

COUNT = 2  # examples of the trial; one could hide a lost batch axis


def built(role: str, build: Callable[[], Any]) -> Net:
    """The net of a builder, all of whose variables are known to it.

    Raises UsageError with the name of a variable that no checkpoint would hold.
    """
    created: list[tf.Variable] = []

    def keep(variable: tf.Variable) -> tf.Variable:
        created.append(variable)
        return variable

    with tf.variable_creator_scope(lambda make, **arguments: keep(make(**arguments))):  # a creator must take all of tf.Variable's
        net = Net.of(role, build())
    known = {id(variable) for variable in net.variables.values()}
    lost = [variable.name for variable in created if id(variable) not in known]
    if lost:
        raise UsageError(
            f"the {role} makes the variable {lost[0]} outside of Keras' weights, so a checkpoint would lose it: use add_weight"
        )
    return net


def check_outputs(generator: Net, discriminator: Net, shape: tuple[int, ...], latent_size: int, num_classes: int | None) -> None:
    """Run both nets on zeros. Raises UsageError that says what came out and what must."""
    labels = None if num_classes is None else tf.zeros([COUNT], tf.int64)
    images = _tried(generator, tf.zeros([COUNT, latent_size]), labels)
    _expect("generator", images, (COUNT, *shape))
    output = _tried(discriminator, tf.zeros([COUNT, *shape]), labels)
    if not isinstance(output, DiscriminatorOutput):
        raise UsageError(f"the discriminator gives a {type(output).__name__}; it must give a DiscriminatorOutput(logits [B])")
    _expect("discriminator", output.logits, (COUNT,))
    _require_parameters([generator, discriminator])


def _tried(net: Net, inputs: Tensor, labels: Tensor | None) -> Any:
    try:
        return net.model(inputs, labels, training=False)
    except UsageError:
        raise
    except Exception as error:  # whatever a plugin's net raises, on inputs of the promised form, is its author's to mend
        raise UsageError(
            f"the {net.role} fails on inputs {list(inputs.shape)}, labels {labels is not None}, training=False: "
            f"{type(error).__name__}: {error}"
        ) from error


def _expect(role: str, found: Any, shape: tuple[int, ...]) -> None:
    form = f"{list(getattr(found, 'shape', ()))} {getattr(getattr(found, 'dtype', None), 'name', type(found).__name__)}"
    if form != f"{list(shape)} float32":
        raise UsageError(f"the {role} gives {form} for a batch of {COUNT}; it must give {list(shape)} float32")


def _require_parameters(nets: Iterable[Net]) -> None:
    for net in nets:
        if not net.trainable:
            raise UsageError(f"the {net.role} has no trainable variable when it is built: call it once in its builder")
