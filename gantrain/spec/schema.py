"""The JSON Schema of a spec, with every registered component."""

from __future__ import annotations

from typing import Any

from gantrain.spec.tasks import SPECS

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """A schema of the YAML as users write it: `name` may be left out, numbers keep their bounds, components are alternatives.

    Task by task, as `if: {task: history} then: ... else: ...`, with that of `gan`, the default, at the end.
    """
    definitions: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for task, root in SPECS.items():  # the default comes first, so it is innermost
        own = root.model_json_schema()
        own["required"] = [key for key in own["required"] if key != "name"]  # the file's stem is the default
        own["properties"]["task"] = {"const": task}
        definitions |= own.pop("$defs")
        says_so = {"properties": {"task": {"const": task}}, "required": ["task"]}
        schema = {"if": says_so, "then": own, "else": schema} if schema else own
    return {"$schema": DIALECT, **schema, "title": "gantrain", "$defs": definitions}
