"""Who moves whom: each trainable variable has one owner, gets a finite gradient in its own update, and moves in no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from gantrain import registry
from gantrain.deepcheck.findings import finding
from gantrain.deepcheck.subject import Inputs, Subject, moved, restored, role_of, statistics
from gantrain.interfaces import Settings, Tensor
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


def forward(net: Net, inputs: Inputs) -> list[Finding]:
    """Trainable variables that a forward reads and that are not the net's (made by a lambda, or by another net); and NaN."""
    with restored(net.variables), tf.GradientTape() as tape:
        output = net.model(*inputs, training=True)
    known = {variable.ref() for variable in net.variables.values()}
    hidden = [variable.name for variable in tape.watched_variables() if variable.ref() not in known]
    message = (
        f"the {net.role} reads the trainable variable {named(hidden)}, which is none of its own: no update moves it, and no "
        "checkpoint holds it; make it with add_weight in a layer of this net"
    )
    return [*([finding("variable-hidden", net.role, message)] if hidden else []), *_nonfinite(net.role, output)]


def _nonfinite(role: str, output: Tensor) -> Iterator[Finding]:
    values = [item for item in tf.nest.flatten(output) if item is not None]
    if not all(bool(tf.reduce_all(tf.math.is_finite(item))) for item in values):
        message = f"the {role} gives NaN or infinite numbers for the first batch, so every loss of it is NaN"
        yield finding("gradient-nonfinite", role, f"{message}; look for a log or a root of 0 or less, or a division by 0, in it")


# ---------------------------------------------------------------- updates


@dataclass(frozen=True)
class Tried:
    """One update that was run by itself: its loss, its gradients by key, the keys without one, and what statistics it moved."""

    trial: Trial
    loss: float
    gradients: Mapping[str, np.ndarray]
    missing: list[str]
    statistics: list[str]

    @property
    def norm(self) -> float:
        """Of all gradients together."""
        return float(np.sqrt(sum(float(np.sum(np.square(value, dtype=np.float64))) for value in self.gradients.values())))


def updates(subject: Subject, done: list[Tried]) -> Iterator[Finding]:
    """Each update by itself, on a few real examples, from the first state with its zeros nudged; it is added to `done`."""
    for trial in subject.trials:
        with restored(subject.state):
            _nudge_zeros(trial)
            before = {key: tf.identity(variable) for key, variable in subject.state.items()}
            done.append(_run(subject, trial, before))
            yield from (*_gradients(subject, done[-1]), *_moves(subject, trial, before))


def _nudge_zeros(trial: Trial) -> None:
    for index, variable in enumerate(trial.variables.values()):
        if not np.any(variable.numpy()):
            variable.assign(NUDGE * tf.random.stateless_normal(tf.shape(variable), (index, 13), alg="philox"))


def _run(subject: Subject, trial: Trial, before: Mapping[str, Tensor]) -> Tried:
    """Loss and gradients of one update, which is applied where every variable has a gradient."""

    def update(batch: dict[str, Tensor]) -> tuple[Tensor, list[Tensor | None]]:
        loss, gradients = trial.compute(batch, tf.constant(0, tf.int64))
        if not trial.update.missing(gradients):
            trial.update.run(loss, gradients, tf.constant(True))
        return loss, gradients

    scaled = trial.update.loss_scale is not None
    loss, gradients = tf.distribute.get_strategy().run(update, args=(subject.few,))
    pairs = [(key, value) for key, value in zip(trial.update.keys, gradients, strict=True) if value is not None]
    found = {key: trial.unscaled(tf.convert_to_tensor(value)).numpy() for key, value in pairs}
    found = (
        {key: np.nan_to_num(value, nan=1.0, posinf=1.0, neginf=-1.0) for key, value in found.items()} if scaled else found
    )  # a smaller scale may do
    own = [key for net in subject.nets.values() for key in moved(statistics(net), before)]
    return Tried(trial, float(loss), found, trial.update.missing(gradients), own)


def _gradients(subject: Subject, tried: Tried) -> Iterator[Finding]:
    role, gradients = tried.trial.role, tried.gradients  # the last net of a chain is named: it cuts off those before it too
    if tried.missing:
        yield finding("gradient-none", role_of(tried.missing[-1]), no_gradient(role, tried.missing))
    if not np.isfinite(tried.loss):
        message = f"the {role}'s loss is {tried.loss:g} on the first batch; it comes from {_components(subject, tried.trial)}"
        place = f"objective.{tried.trial.setting}"
        yield finding("gradient-nonfinite", place, f"{message}: look for a log or a root of 0, or a division by 0")
        return
    bad = [key for key, value in gradients.items() if not np.isfinite(value).all()]
    if bad:
        message = f"the {role}'s gradient is NaN or infinite for {named(bad)} on the first batch"
        cure = "a root or a norm of 0 has no gradient, add 1e-8 under it"
        yield finding(
            "gradient-nonfinite", role_of(bad[-1]), f"{message}; it comes from {_components(subject, tried.trial)}: {cure}"
        )
    kernels = [key for key, value in gradients.items() if value.ndim > 1]
    still = [key for key in kernels if not np.any(gradients[key])]
    if still:
        what = ("every kernel: " if len(still) == len(kernels) else "") + named(still)
        message = f"the {role}'s gradient is exactly 0 on the first batch for {what}"
        cure = "so they cannot learn: a factor 0, a rounding, or a saturated activation cuts it off"
        yield finding("gradient-zero", role_of(still[-1]), f"{message}; {cure}")


def _components(subject: Subject, trial: Trial) -> str:
    """Names of what a loss is made of."""
    objective = subject.spec.objective
    made = getattr(objective, trial.setting)
    if not isinstance(made, Settings):
        return f"{trial.setting}: {made}"
    added = [*getattr(objective, "penalties", ()), *getattr(objective, "regularisers", ())]
    rows = [registry.row_of(item) for item in (made, *(added if trial.role == "discriminator" else ()))]
    return ", ".join(row.placed() if row.is_plugin else f"{row.kind} {row.name}" for row in rows)


def _moves(subject: Subject, trial: Trial, before: Mapping[str, Tensor]) -> Iterator[Finding]:
    """What the update moved that is not its own: another net's parameters, statistics that its forward must leave alone."""
    own = set(trial.variables)
    for role, net in subject.nets.items():
        strange = [key for key in moved(net.trainable, before) if key not in own]
        if strange:
            message = f"the {trial.role}'s update moves {named(strange)} of the {role}"
            yield finding(
                "wrong-net-updated", role, f"{message}; only the {role}'s own update may: no assign() in a call or a loss"
            )
        if role not in trial.moves and (moved_statistics := moved(statistics(net), before)):
            message = f"the {trial.role}'s update moves the statistics {named(moved_statistics)} of the {role}"
            yield finding("wrong-net-updated", role, f"{message}; only a forward for the {role}'s own update may")
