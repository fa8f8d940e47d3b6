"""The output of a layer in the very step that trained with it, out of Keras' own compiled `train_on_batch`.

Keras has no forward hook, and a metric cannot do it: metrics are called only for outputs that have a target, and see nothing
of the layers inside. So the step itself gives the tensor out, beside its losses.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import keras
import tensorflow as tf

from gantrain.errors import UsageError

_ABSENT = object()


class Tap:
    """What one layer gave in the latest training step."""

    def __init__(self, layer: keras.layers.Layer) -> None:
        self.layer = layer
        self._value: Any = _ABSENT

    @property
    def value(self) -> Any:
        """The layer's output as it was, a tensor or a structure of tensors. Raises UsageError before the first step."""
        if self._value is _ABSENT:
            raise UsageError(
                f"no step was taken yet, so '{self.layer.name}' has given nothing; call train_on_batch or fit inside `with`"
            )
        return self._value

    def numpy(self) -> Any:
        """`value` as NumPy arrays of the same dtype (bfloat16 too: its type is that of ml_dtypes)."""
        return tf.nest.map_structure(lambda tensor: tensor.numpy(), self.value)

    def _give(self, value: Any) -> None:
        self._value = value


@contextmanager
def capture(model: keras.Model, layer: keras.layers.Layer | str | None = None) -> Iterator[Tap]:
    """Within this block each training step of `model` also gives out what `layer` gave in it: exact, no second forward.

        with gantrain.capture(gan) as tap:
            loss = gan.train_on_batch(latents, ones)
            fake = tap.numpy()

    `layer`: any layer of the model, or a layer's name. None means the generator: `model.generator` if there is one; the first
    of the two models that `model` stacks; else the model itself. A layer called several times in a step gives its last output.
    The step stays compiled, in every precision, with `jit_compile` or without, and may be the model's own `train_step`. It is
    traced anew at the first step inside the block, so put the block around the loop and not into it; at the end the model has
    its own step back. After `fit`, or with `steps_per_execution`, the tap holds the last step of the call. Under a
    `tf.distribute` strategy it holds the outputs of all replicas one after the other along the first axis.

    Raises UsageError where the layer to capture is in doubt, and from the step if that does not call it.
    """
    if keras.backend.backend() != "tensorflow":
        raise UsageError(f"capture is for Keras on TensorFlow, and Keras runs on {keras.backend.backend()}; set KERAS_BACKEND")
    tap = Tap(_chosen(model, layer))
    recorder = _Recorder(tap)
    with ExitStack() as undo:
        undo.enter_context(_replaced(tap.layer, "call", recorder.noting(tap.layer.call)))
        undo.enter_context(_replaced(model, "train_step", recorder.returning(_plain(model.train_step))))
        undo.enter_context(_replaced(model, "make_train_function", recorder.building(model)))
        undo.enter_context(_train_function_set_aside(model, recorder))
        yield tap


class _Recorder:
    """Between the layer, which is called while the step is traced, and the tap, which is filled whenever the step ran."""

    def __init__(self, tap: Tap) -> None:
        self._tap = tap
        self._key = f"captured/{id(tap)}"  # beside the losses, on the way out of the compiled step
        self._traced = threading.local()  # each replica's step is traced in a thread of its own
        self._dtypes: Any = None
        self.recompiled = False  # the model was compiled anew inside the block

    def noting(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The layer's `call`, which notes its output."""

        @functools.wraps(call)
        def noted(*args: Any, **kwargs: Any) -> Any:
            output = call(*args, **kwargs)
            outputs = getattr(self._traced, "outputs", None)
            if outputs is not None:  # else it was called by something that is no training step
                outputs.append(output)
            return output

        return noted

    def returning(self, train_step: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
        """The model's step, which returns what was noted beside its losses."""

        @functools.wraps(train_step)
        def returned(data: Any) -> dict[str, Any]:
            self._traced.outputs = []
            try:
                logs = train_step(data)
                output = self._last(self._traced.outputs)
            finally:
                self._traced.outputs = None
            self._dtypes = tf.nest.map_structure(lambda tensor: tensor.dtype, output)
            return {**(logs or {}), self._key: tf.nest.map_structure(_of_all_replicas, output)}

        return returned

    def building(self, model: keras.Model) -> Callable[..., None]:
        """`make_train_function`, whose function fills the tap."""
        make = model.make_train_function

        def made(force: bool = False) -> None:
            present = model.train_function
            self.recompiled |= present is None
            if not force and isinstance(present, _Filling) and present.function is not None:
                return
            make(force=True)
            _set_train_function(model, _Filling(self, model.train_function))

        return made

    def fill(self, logs: dict[str, Any]) -> dict[str, Any]:
        """Take the output out of what a step returned; the rest of it."""
        self._tap._give(tf.nest.map_structure(tf.cast, logs[self._key], self._dtypes))
        return {key: value for key, value in logs.items() if key != self._key}

    def _last(self, outputs: list[Any]) -> Any:
        name = self._tap.layer.name
        if not outputs:
            raise UsageError(
                f"the training step does not call '{name}', so there is nothing to capture; pass a layer that it calls"
            )
        output = outputs[-1]
        if any(_is_elsewhere(tensor) for tensor in tf.nest.flatten(output, expand_composites=True)):
            raise UsageError(
                f"the training step calls '{name}' inside a tf.function, tf.cond or loop of its own, which lets no tensor out; "
                "return the output from there, or leave that tf.function to Keras"
            )
        return output


class _Filling:
    """A train function that fills the tap; `function` is None until the first step."""

    def __init__(self, recorder: _Recorder, function: Callable[[Any], Any] | None) -> None:
        self.recorder = recorder
        self.function = function

    def __call__(self, iterator: Any) -> Any:
        assert self.function is not None  # make_train_function comes first
        return self.recorder.fill(self.function(iterator))


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """An attribute of this one object, past Keras' tracking of attributes; afterwards it is as it was."""
    before = owner.__dict__.get(name, _ABSENT)
    owner.__dict__[name] = value
    try:
        yield
    finally:
        if before is _ABSENT:
            del owner.__dict__[name]
        else:
            owner.__dict__[name] = before


@contextmanager
def _train_function_set_aside(model: keras.Model, recorder: _Recorder) -> Iterator[None]:
    """The compiled step of before comes back, unless `compile` made it obsolete."""
    before = model.train_function
    _set_train_function(model, _Filling(recorder, None))
    try:
        yield
    finally:
        recompiled = recorder.recompiled or model.train_function is None
        _set_train_function(model, None if recompiled else before)


def _set_train_function(model: Any, function: Any) -> None:  # Keras' own annotation knows only None
    model.train_function = function


def _chosen(model: keras.Model, layer: keras.layers.Layer | str | None) -> keras.layers.Layer:
    """The layer asked for, or the generator. Raises UsageError."""
    if isinstance(model.distribute_strategy, tf.distribute.MultiWorkerMirroredStrategy):
        raise UsageError("capture cannot see the outputs of other workers; train with one worker, or use `gantrain fit`")
    if isinstance(layer, str):
        return _named(model, layer)
    if layer is not None:
        return layer
    if isinstance(getattr(model, "generator", None), keras.layers.Layer):
        return model.generator
    inside = [item for item in model.layers if not isinstance(item, keras.layers.InputLayer)]
    models = [item for item in inside if isinstance(item, keras.Model)]
    if not models:
        return model
    if len(inside) == len(models) == 2:
        return models[0]
    names = ", ".join(f"'{item.name}'" for item in models)
    raise UsageError(f"'{model.name}' holds the models {names} and more; pass the layer to capture: capture(model, layer=...)")


def _named(model: keras.Model, name: str) -> keras.layers.Layer:
    found = [item for item in model._flatten_layers() if item.name == name]
    if len(found) == 1:
        return found[0]
    raise UsageError(f"'{model.name}' has {len(found) or 'no'} layers named '{name}'; pass the layer itself")


def _plain(train_step: Any) -> Callable[[Any], Any]:
    """The step without a tf.function of its own: Keras compiles it anyway. Its `if` and `for` on tensors are still converted."""
    if not hasattr(train_step, "python_function"):
        return train_step
    return tf.autograph.to_graph(train_step.python_function)


def _is_elsewhere(tensor: Any) -> bool:
    """Whether a tensor belongs to another graph than the one that is being traced."""
    graph = getattr(tensor, "graph", None) if not tf.executing_eagerly() else None
    return graph is not None and graph is not tf.compat.v1.get_default_graph()


def _of_all_replicas(tensor: Any) -> Any:
    """[B,...] of each replica -> [all B,...]. Keras takes the mean over replicas, which is exact for equal numbers in float64."""
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return tensor
    gathered = context.all_gather(tensor, axis=0)
    return tf.cast(gathered, tf.float64)
