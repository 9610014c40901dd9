"""JSON Schemas that every client takes: plain types, nothing referred to, no unions; optional means not required.

Some models refuse a whole session for one `anyOf`, `$ref` or list of types in one tool (D11 of our cases).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

from pydantic import BaseModel

Schema = dict[str, Any]
FORBIDDEN: Final = (
    "$ref",
    "$defs",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "const",
    "patternProperties",
    "prefixItems",
)
# Lengths and forms are checked, and told where they are wrong; they need not be known beforehand.
_CHECKED: Final = ("maxLength", "minLength", "pattern", "maxItems", "minItems")
_DROPPED: Final = ("title", "default", "$defs", "discriminator", "examples", "format", *_CHECKED)


def of_input(model: type[BaseModel]) -> Schema:
    """Of arguments: what is not named is refused."""
    return {**_plain_model(model, "validation"), "additionalProperties": False}


def of_output(model: type[BaseModel]) -> Schema:
    """Of an answer, what is sure to be in it. An answer shows its other fields by itself, and a whole schema of each
    would cost a model's window more than it tells."""
    whole = whole_output(model)
    sure = whole.get("required", [])
    return {**whole, "properties": {name: _shallow(whole["properties"][name]) for name in sure}}


def whole_output(model: type[BaseModel]) -> Schema:
    """Of an answer, to its last level."""
    return _plain_model(model, "serialization")


def _shallow(schema: Schema) -> Schema:
    if "properties" in schema:
        return {name: value for name, value in schema.items() if name not in ("properties", "required")}
    if "items" in schema:
        return {**schema, "items": _shallow(schema["items"])}
    return schema


def _plain_model(model: type[BaseModel], mode: Any) -> Schema:
    schema = model.model_json_schema(mode=mode, by_alias=False)
    plain = _plain(schema, schema.get("$defs", {}))
    plain.pop("description", None)  # of the class: the tool says what it is
    if mode == "serialization":
        sure = [name for name, field in model.model_fields.items() if field.is_required()]
        plain["required"] = sure
    if not plain.get("required"):
        plain.pop("required", None)
    return {"type": "object", "properties": {}, **plain}


def _plain(schema: Any, known: Schema) -> Any:
    if isinstance(schema, list):
        return [_plain(item, known) for item in cast("Iterable[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    given = cast("Schema", schema)
    if "$ref" in given:
        found = known[str(given["$ref"]).rpartition("/")[2]]
        return _plain({**found, **{name: value for name, value in given.items() if name != "$ref"}}, known)
    if "anyOf" in given:
        (one,) = [option for option in given["anyOf"] if option != {"type": "null"}]
        return _plain({**one, **{name: value for name, value in given.items() if name != "anyOf"}}, known)
    plain: Schema = {}
    for name, value in given.items():
        if name == "properties":
            plain[name] = {field: _plain(each, known) for field, each in value.items()}
        elif name == "const":
            plain["enum"] = [value]
        elif name not in _DROPPED:
            plain[name] = _plain(value, known) if name in ("items", "additionalProperties") else value
    if plain.get("type") == "object" and "properties" in plain and "required" in plain:
        plain["required"] = [field for field in plain["required"] if "default" not in given["properties"][field]]
    return {name: value for name, value in plain.items() if not (name == "required" and not value)}
