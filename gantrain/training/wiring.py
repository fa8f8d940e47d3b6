"""Whether two nets fit their data and each other, and whether plugins' components give what they must.

Asked once, when they are built, because a plugin can be anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import tensorflow as tf

from gantrain import registry
from gantrain.errors import UsageError, WiringError, in_words
from gantrain.interfaces import DiscriminatorOutput, Loss, PenaltyContext, PriorSettings, Settings, Tensor
from gantrain.spec.model import Objective
from gantrain.training.memory import watched_weights
from gantrain.training.nets import Net

COUNT = 2  # examples of the trial; one could hide a lost batch axis
LOGITS = ((0.5, -1.0, 2.0), (-0.5, 1.5, 0.25))  # of the trial of a loss: real and fake


def built(role: str, build: Callable[[], Any]) -> Net:
    """The net of a builder, all of whose variables are known to it.

    Raises UsageError with the name of a variable that no checkpoint would hold.
    """
    created: list[tf.Variable] = []

    def keep(variable: tf.Variable) -> tf.Variable:
        created.append(variable)
        return variable

    creator = lambda make, **arguments: keep(make(**arguments))  # noqa: E731  a creator must take all of tf.Variable's
    with tf.variable_creator_scope(creator), watched_weights(role):
        net = Net.of(role, build())
    known = {id(variable) for variable in net.variables.values()}
    lost = [variable.name for variable in created if id(variable) not in known]
    if lost:
        raise WiringError(
            "variable-hidden",
            role,
            f"the {role} makes the variable {lost[0]} outside of Keras' weights, so a checkpoint would lose it: use add_weight",
        )
    return net


def check_outputs(generator: Net, discriminator: Net, shape: tuple[int, ...], latent_size: int, num_classes: int | None) -> None:
    """Run both nets on zeros. Raises WiringError that says what came out and what must."""
    check_generator(generator, shape, latent_size, num_classes)
    check_discriminator(discriminator, shape, num_classes)


def check_generator(generator: Net, shape: tuple[int, ...], latent_size: int, num_classes: int | None) -> None:
    """Latents in, examples out: a generator, or a decoder. Raises WiringError."""
    images = tried(generator, tf.zeros([COUNT, latent_size]), _no_labels(num_classes))
    expect(generator.role, images, (COUNT, *shape))
    require_parameters([generator])


def check_discriminator(discriminator: Net, shape: tuple[int, ...], num_classes: int | None) -> None:
    """Examples in, logits out. Raises WiringError."""
    labels = _no_labels(num_classes)
    output = tried(discriminator, tf.zeros([COUNT, *shape]), labels)
    if not isinstance(output, DiscriminatorOutput):
        message = f"the discriminator gives a {type(output).__name__}; it must give a DiscriminatorOutput(logits [B])"
        raise WiringError("output-shape", "discriminator", message)
    expect("discriminator", output.logits, (COUNT,))
    require_parameters([discriminator])


def _no_labels(num_classes: int | None) -> Tensor | None:
    return None if num_classes is None else tf.zeros([COUNT], tf.int64)


def tried(net: Net, *inputs: Tensor | None) -> Any:
    """What a net gives for examples (and labels, where it takes them). Raises UsageError for whatever it raises."""
    try:
        return net.model(*inputs, training=False)
    except UsageError:
        raise
    except Exception as error:  # whatever a plugin's net raises, on inputs of the promised form, is its author's to mend
        place = registry.plugin_line(error)
        message = f"the {net.role} fails on inputs {_words(inputs)}training=False{f', at {place}' if place else ''}"
        raise WiringError("component-fails", net.role, f"{message}: {in_words(error)}") from error


def _words(inputs: tuple[Tensor | None, ...]) -> str:
    examples, *labels = inputs
    return f"{[] if examples is None else list(examples.shape)}, {''.join(f'labels {item is not None}, ' for item in labels)}"


def expect(role: str, found: Any, shape: tuple[int, ...]) -> None:
    """Raises UsageError for another form."""
    form = f"{list(getattr(found, 'shape', ()))} {getattr(getattr(found, 'dtype', None), 'name', type(found).__name__)}"
    if form != f"{list(shape)} float32":
        message = f"the {role} gives {form} for a batch of {COUNT}; it must give {list(shape)} float32"
        raise WiringError("output-shape", role, message)


def require_parameters(nets: Iterable[Net]) -> None:
    """Raises UsageError for a net with nothing to train."""
    for net in nets:
        if not net.trainable:
            message = f"the {net.role} has no trainable variable when it is built: call it once in its builder"
            raise WiringError("component-fails", net.role, message)


# ---------------------------------------------------------------- plugins' components


def check_plugins(
    objective: Objective, latent: tuple[PriorSettings, int], discriminator: Net, shape: tuple[int, ...], num_classes: int | None
) -> None:
    """Try what plugins give for the objective and the latents. Raises UsageError that says what came out and what must.

    `latent`: law and size; `shape`: of what the discriminator judges. Built-in components are not tried: contract tests do that.
    """
    variables, (law, size) = list(discriminator.trainable.values()), latent
    _try([law], lambda who, prior: _try_prior(who, prior, size, law.uses_labels()), execute=True)
    _try([objective.loss], _try_loss, execute=True)
    _try(objective.penalties, lambda who, penalty: _try_penalty(who, penalty, _context(discriminator, shape, num_classes)))
    _try(objective.regularisers, lambda who, function: _require_form(who, function(variables), [], "a scalar"))
    _try(objective.constraints, lambda _, function: function(variables))


def _try(items: Iterable[Settings], trial: Callable[[str, Any], Any], execute: bool = False) -> None:
    """Trace the trial of each plugin's component as the step would be; `execute` it as well where that moves no state."""
    for item in items:
        row = registry.row_of(item)
        if row.is_plugin:
            component = registry.build(item)
            with registry.blaming(row):
                _trace(partial(trial, row.placed(), component), execute)


def _trace(trial: Callable[[], Any], execute: bool) -> None:
    """Try symbolic tensors, for what eager ones allow (`.numpy()`, `if`), then eager ones, for shapes known only by running."""

    def call() -> None:
        tf.distribute.get_strategy().run(trial)

    tf.function(call, autograph=False).get_concrete_function()
    if execute:
        call()


def _try_prior(who: str, prior: Callable[..., Tensor], size: int, by_label: bool) -> None:
    count = len(LOGITS[0])
    labels = (tf.zeros([count], tf.int64),) if by_label else ()
    _require_form(who, prior(tf.constant(count), size, tf.zeros([2], tf.int64), *labels), [count, size], "[count,size]")


def _try_loss(who: str, loss: Loss) -> None:
    _try_side(who, loss, "discriminator", ("real", "fake"))
    _try_side(who, loss, "generator", ("fake",))


def _try_side(who: str, loss: Loss, side: str, reads: tuple[str, ...]) -> None:
    """One of the two functions: its form, and that it can be differentiated by the logits it must read."""
    real, fake = (tf.constant(logits) for logits in LOGITS)
    with tf.GradientTape() as tape:
        tape.watch([real, fake])
        value = getattr(loss, side)(real, fake)
        _require_form(f"{who}: the {side}'s loss", value, [len(LOGITS[0])], "[B], one loss per example")
    gradients = tape.gradient(value, {"real": real, "fake": fake})
    missing = [name for name in reads if gradients[name] is None]
    if missing:
        raise WiringError(
            "gradient-none",
            "objective.loss",
            f"{who}: the {side}'s loss gives no gradient to the {' and '.join(missing)} logits: "
            "logits not read, a stop_gradient, a cast to integers, or NumPy inside; correct the plugin",
        )
    if tf.executing_eagerly() and not all(_finite(item) for item in (value, *(gradients[name] for name in reads))):
        shown = f"{list(LOGITS[0])} (real) and {list(LOGITS[1])} (fake)"
        message = f"{who}: the {side}'s loss or its gradient is NaN or infinite for the logits {shown}; correct the plugin"
        raise WiringError("gradient-nonfinite", "objective.loss", message)


def _finite(value: Tensor) -> bool:
    return bool(tf.reduce_all(tf.math.is_finite(value)))


def _try_penalty(who: str, penalty: Callable[[PenaltyContext], Tensor], context: PenaltyContext) -> None:
    value = penalty(context)
    cast = tf.cast(value, tf.float32) if tf.is_tensor(value) else value  # as the step does
    _require_form(who, cast, [len(LOGITS[0])], "[B], one value per example")


def _context(discriminator: Net, shape: tuple[int, ...], num_classes: int | None) -> PenaltyContext:
    count = len(LOGITS[0])
    images = tf.zeros([count, *shape])
    labels = None if num_classes is None else tf.zeros([count], tf.int64)

    def judged(x: Tensor) -> DiscriminatorOutput:
        return discriminator.model(x, labels, training=False)

    def critic(x: Tensor) -> Tensor:
        return judged(x).logits

    output, key = judged(images), tf.zeros([2], tf.int64)
    return PenaltyContext(critic, images, images, labels, output, output, key, critic)


def _require_form(who: str, found: Any, shape: list[int], meaning: str) -> None:
    """A shape that is not known while it is traced passes."""
    if tf.is_tensor(found) and found.dtype == tf.float32 and found.shape.is_compatible_with(shape):
        return
    form, count = type(found).__name__, len(LOGITS[0])
    if tf.is_tensor(found):
        form = f"{found.shape if found.shape.rank is None else found.shape.as_list()} {found.dtype.name}"
    raise UsageError(f"{who} gives {form} for {count} examples; it must give {shape} float32 ({meaning}); correct the plugin")
