"""The JSON Schema of a spec, with every registered component."""

from __future__ import annotations

from typing import Any

from gantrain.spec.model import Spec

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """A schema of the YAML as users write it: `name` may be left out, numbers keep their bounds, components are alternatives."""
    schema = Spec.model_json_schema()
    schema["required"] = [key for key in schema["required"] if key != "name"]  # the file's stem is the default
    return {"$schema": DIALECT, "title": "gantrain", **{key: value for key, value in schema.items() if key != "title"}}
