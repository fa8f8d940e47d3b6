"""Who moves whom: each trainable variable has one owner, gets a finite gradient in its own update, and moves in no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import tensorflow as tf

from gantrain import registry
from gantrain.deepcheck.findings import finding
from gantrain.deepcheck.subject import Subject, moved, restored, statistics
from gantrain.interfaces import Tensor
from gantrain.spec.rules import Finding
from gantrain.training.nets import Net
from gantrain.training.trials import Trial
from gantrain.training.update import no_gradient

NUDGE = 0.05  # zero-initialised variables are moved by so much before gradients are judged: behind a zero there is no gradient
SHOWN = 3  # keys in one message


def named(keys: list[str]) -> str:
    """The first few keys, and how many more."""
    rest = len(keys) - SHOWN
    return ", ".join(keys[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


# ---------------------------------------------------------------- variables


def hidden_variables(net: Net, inputs: tuple[Tensor, Tensor | None]) -> list[Finding]:
    """Trainable variables that the forward reads and that are not the net's: made by a lambda, or by another net."""
    with tf.GradientTape() as tape:
        net.model(*inputs, training=False)
    known = {variable.ref() for variable in net.variables.values()}
    hidden = [variable.name for variable in tape.watched_variables() if variable.ref() not in known]
    message = (
        f"the {net.role} reads the trainable variable {named(hidden)}, which is none of its own: no update moves it, and no "
        "checkpoint holds it; make it with add_weight in a layer of this net"
    )
    return [finding("variable-hidden", net.role, message)] if hidden else []


# ---------------------------------------------------------------- updates


def updates(subject: Subject) -> Iterator[Finding]:
    """Each update by itself, on a real batch, from the first state with its zeros nudged."""
    for trial in subject.trials:
        with restored(subject.state):
            _nudge_zeros(trial)
            yield from _judge(subject, trial)


def _nudge_zeros(trial: Trial) -> None:
    for index, variable in enumerate(trial.variables.values()):
        if not np.any(variable.numpy()):
            variable.assign(NUDGE * tf.random.stateless_normal(tf.shape(variable), (index, 13), alg="philox"))


def _judge(subject: Subject, trial: Trial) -> Iterator[Finding]:
    before = {key: tf.identity(variable) for key, variable in subject.state.items()}
    loss, gradients, missing = _run(subject, trial)
    if missing:
        yield finding("gradient-none", trial.role, no_gradient(trial.role, missing))
    yield from _gradients(subject, trial, loss, gradients)
    yield from _moves(subject, trial, before)


def _run(subject: Subject, trial: Trial) -> tuple[Tensor, dict[str, Tensor], list[str]]:
    """Loss and gradients of one update, which is applied where every variable has a gradient."""
    missing: list[str] = []

    def update(batch: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        loss, gradients = trial.compute(batch, tf.constant(0, tf.int64))
        missing[:] = trial.update.missing(gradients)
        if not missing:
            trial.update.run(loss, gradients, tf.constant(True))
        pairs = zip(trial.update.keys, gradients, strict=True)
        return loss, {key: trial.unscaled(tf.convert_to_tensor(value)) for key, value in pairs if value is not None}

    def compiled(batch: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        return tf.distribute.get_strategy().run(update, args=(batch,))

    loss, gradients = tf.function(compiled, autograph=False)(subject.batch)
    return loss, gradients, missing


def _gradients(subject: Subject, trial: Trial, loss: Tensor, gradients: Mapping[str, Tensor]) -> Iterator[Finding]:
    if not np.isfinite(loss.numpy()):
        message = f"the {trial.role}'s loss is {float(loss):g} on the first batch; it comes from {_components(subject)}"
        yield finding("gradient-nonfinite", "objective.loss", f"{message}: look for a log or a root of 0, or a division by 0")
        return
    bad = [key for key, value in gradients.items() if not np.isfinite(value.numpy()).all()]
    if bad:
        message = f"the {trial.role}'s gradient is NaN or infinite for {named(bad)} on the first batch"
        yield finding("gradient-nonfinite", trial.role, f"{message}: a root or a norm of 0 has no gradient, add 1e-8 under it")
    kernels = [key for key, value in gradients.items() if len(value.shape) > 1]
    still = [key for key in kernels if not np.any(gradients[key].numpy())]
    if still:
        what = ("every kernel: " if len(still) == len(kernels) else "") + named(still)
        message = f"the {trial.role}'s gradient is exactly 0 on the first batch for {what}"
        yield finding(
            "gradient-zero",
            trial.role,
            f"{message}; so they cannot learn: a factor 0, a rounding, or a saturated activation cuts it off",
        )


def _components(subject: Subject) -> str:
    """Names of what a loss is made of."""
    objective = subject.spec.objective
    rows = [registry.row_of(item) for item in (objective.loss, *objective.penalties, *objective.regularisers)]
    return ", ".join(row.placed() if row.is_plugin else f"{row.kind} {row.name}" for row in rows)


def _moves(subject: Subject, trial: Trial, before: Mapping[str, Tensor]) -> Iterator[Finding]:
    """What the update moved that is not its own: another net's parameters, statistics aside."""
    own = set(trial.variables)
    for role, net in subject.nets.items():
        strange = [key for key in moved(net.trainable, before) if key not in own]
        if strange:
            message = f"the {trial.role}'s update moves {named(strange)} of the {role}"
            yield finding(
                "wrong-net-updated", role, f"{message}; only the {role}'s own update may: no assign() in a call or a loss"
            )
        if role != trial.role and (moved_statistics := moved(statistics(net), before)):
            message = f"the {trial.role}'s update moves the statistics {named(moved_statistics)} of the {role}"
            yield finding("wrong-net-updated", role, f"{message}; only a forward for the {role}'s own update may")
