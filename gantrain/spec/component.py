"""`Component("loss")`: a field that is written `hinge` or `{name: hinge, ...settings}` in YAML and becomes a settings object."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, create_model
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from gantrain import registry
from gantrain.interfaces import Settings
from gantrain.spec.plain import as_list, as_mapping
from gantrain.spec.words import did_you_mean


class Component:
    """Annotation of a spec field: which kind of registered component it holds."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.parse, serialization=core_schema.plain_serializer_function_ser_schema(to_tree)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [form for row in registry.rows(self.kind) for form in _json_forms(row, self.settings_of(row))]}

    def settings_of(self, row: registry.Row) -> type[Settings]:
        """The class that reads the settings of a named component here."""
        return row.settings

    def parse(self, value: Any) -> Settings:
        """Settings of the named component; errors inside carry their own place (pydantic joins the paths)."""
        if isinstance(value, Settings):
            return value
        if isinstance(value, str):
            value = {"name": value}
        tree = as_mapping(value)
        name = tree.get("name") if tree else None
        if tree is None or not isinstance(name, str):
            raise PydanticCustomError("component", "write a name, or a mapping with a name: {{name: ..., ...}}")
        row = registry.find(self.kind, name)
        if row is None:
            raise self._unknown(name)
        return self.settings_of(row).model_validate({key: item for key, item in tree.items() if key != "name"})

    def numbers(self) -> bool:
        """Whether a plain number may stand here as well."""
        return False

    def _unknown(self, name: str) -> PydanticCustomError:
        hint = did_you_mean(name, registry.names(self.kind))
        return PydanticCustomError(
            "unknown-name", "there is no {kind} named {name}; {hint}", {"kind": self.kind, "name": name, "hint": hint}
        )


class OptionalComponent(Component):
    """As `Component`, or null."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "null"}, *super().__get_pydantic_json_schema__(schema, handler)["anyOf"]]}

    def parse(self, value: Any) -> Any:
        """None, or the settings of the named component."""
        return None if value is None else super().parse(value)


class NumberOrComponent(Component):
    """As `Component`, or a number above zero: `2e-4`, or `{name: cosine, ...}`."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        forms = super().__get_pydantic_json_schema__(schema, handler)
        return {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, *forms["anyOf"]]}

    def parse(self, value: Any) -> Any:
        """The number as a float, or the settings of the named component."""
        number = _number(value)
        if number is None:
            return super().parse(value)
        if not 0 < number < float("inf"):
            raise PydanticCustomError("component-number", "a number above 0 is wanted")
        return number

    def numbers(self) -> bool:
        """Yes."""
        return True


class SizedComponent(Component):
    """As `Component`, with one more setting: `size`, how many numbers it makes."""

    def settings_of(self, row: registry.Row) -> type[Settings]:
        """The component's settings and `size`."""
        return _sized(row.settings)


@cache
def _sized(settings: type[Settings]) -> type[Settings]:
    size: Any = (Annotated[int, Field(ge=1)], ...)
    return create_model(f"Sized{settings.__name__}", __base__=settings, __doc__=settings.__doc__, size=size)


def _number(value: Any) -> float | None:
    """A number, also one in quotes; None for anything else."""
    try:
        return float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    except ValueError:
        return None


def named(name: str) -> Any:
    """A default component, by its name; it is parsed when it is used, for the catalogs load later than this file."""
    return name


def to_tree(settings: Any) -> Any:
    """The YAML form of a component: its name first, then every setting. A number stays one."""
    if not isinstance(settings, Settings):
        return settings
    return {"name": registry.row_of(settings).name, **settings.model_dump(mode="json")}


def _json_forms(row: registry.Row, settings: type[Settings]) -> list[dict[str, Any]]:
    schema = _inlined(settings.model_json_schema())
    schema["properties"] = {"name": {"const": row.name}, **schema.get("properties", {})}
    schema["required"] = ["name", *schema.get("required", [])]
    schema["description"] = row.summary
    forms: list[dict[str, Any]] = [schema]
    if schema["required"] == ["name"]:
        forms.append({"const": row.name, "description": row.summary})
    return forms


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without `$defs`: its references would point nowhere inside the schema of the whole spec."""
    definitions: dict[str, Any] = schema.pop("$defs", {})

    def inline(part: Any) -> Any:
        mapping, items = as_mapping(part), as_list(part)
        if items is not None:
            return [inline(entry) for entry in items]
        if mapping is None:
            return part
        target = definitions.get(str(mapping.get("$ref", "")).rpartition("/")[2])
        rest = {key: inline(value) for key, value in mapping.items() if target is None or key != "$ref"}
        return rest if target is None else {**inline(target), **rest}

    return inline(schema)
