"""Everything a resume needs, as one dictionary: stable key -> variable.

Keys are role + explicit layer names (`generator/stage1/conv/kernel`), the same whenever and in whatever order nets are built.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import keras
import tensorflow as tf

from gantrain.errors import UsageError

_AUTOMATIC = re.compile(r"^(?P<stem>.+?)_(?P<number>\d+)$")


def net_variables(role: str, net: keras.Model) -> dict[str, tf.Variable]:
    """All variables of a net, trainable or not, seed states of Dropout included, keyed `role/layer/.../name`.

    Keras numbers unnamed layers by build order in the process (`dense_7`); such numbers are counted anew inside the net.
    """
    paths = stable_paths([variable.path for variable in net.variables], net.name)
    return unique((f"{role}/{path}", variable.value) for path, variable in zip(paths, net.variables, strict=True))


def trainable_variables(role: str, net: keras.Model) -> dict[str, tf.Variable]:
    """The variables an update owns: the trainable part of `net_variables`, in the net's order."""
    trainable = {id(variable.value) for variable in net.trainable_variables}
    return {key: value for key, value in net_variables(role, net).items() if id(value) in trainable}


def stable_paths(paths: list[str], net_name: str) -> list[str]:
    """Variable paths without the net's own name and with automatic numbers counted from 0 within each parent."""
    seen: dict[tuple[str, str], dict[str, int]] = {}
    return ["/".join(_stable_parts(path.removeprefix(net_name + "/").split("/"), seen)) for path in paths]


def _stable_parts(parts: list[str], seen: dict[tuple[str, str], dict[str, int]]) -> list[str]:
    stable: list[str] = []
    parent = ""
    for part in parts:  # the last one too: a weight without a name is `variable_7`
        match = _AUTOMATIC.match(part)
        stem = match["stem"] if match else part
        numbers = seen.setdefault((parent, stem), {})
        number = numbers.setdefault(part, len(numbers))
        stable.append(f"{stem}_{number}" if number else stem)
        parent += "/" + part
    return stable


def unique(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A dictionary of pairs whose keys must differ.

    Raises UsageError with the key that came twice.
    """
    result: dict[str, Any] = {}
    for key, value in items:
        if key in result:
            raise UsageError(f"two variables share the key {key!r}: give the layers of this net explicit, different names")
        result[key] = value
    return result


def prefixed(prefix: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    """The same variables under `prefix/`."""
    return {f"{prefix}/{key}": variable for key, variable in variables.items()}


def to_numpy(variables: Mapping[str, tf.Variable]) -> dict[str, Any]:
    """Current values, copied."""
    return {key: variable.numpy().copy() for key, variable in variables.items()}
