"""Structural schemas of custom resources: shape, defaulting and validation.

Order as on the real server: prune (by the shape), default, validate.
CEL rules (x-kubernetes-validations) are not evaluated.
"""

import re
from collections.abc import Iterator
from typing import Any

from reconciler.sandbox.kubernetes import shapes as s
from reconciler.sandbox.kubernetes.objects import Object, clone, is_list, is_map, mapping
from reconciler.sandbox.kubernetes.rules import DUPLICATE, INVALID, REQUIRED, TOO_LONG, UNSUPPORTED, Cause
from reconciler.sandbox.kubernetes.shapes import Shape

_RULES = (
    "enum", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "oneOf", "anyOf", "allOf",
    "not",
)  # fmt: skip


def custom_shape(schema: Object) -> Shape:
    """The shape of a whole custom object, from a version's openAPIV3Schema."""
    shape = _shape({**schema, "type": "object"})
    shape.fields["apiVersion"] = Shape(s.STRING)
    shape.fields["kind"] = Shape(s.STRING)
    shape.fields["metadata"] = s.metadata_shape()
    shape.required = tuple(name for name in shape.required if name not in ("apiVersion", "kind", "metadata"))
    return shape


def fill_defaults(value: Any, shape: Shape) -> None:
    """Defaults of absent fields, in place, where their parent exists."""
    if not shape.defaulted:
        return
    if is_map(value):
        for name, child in shape.fields.items():
            if child.has_default and name not in value:
                value[name] = clone(child.default)
            if name in value:
                fill_defaults(value[name], child)
        if shape.type == s.MAP and shape.element is not None:
            for item in value.values():
                fill_defaults(item, shape.element)
    elif is_list(value) and shape.element is not None:
        for item in value:
            fill_defaults(item, shape.element)


def broken_schema(value: Any, shape: Shape, path: str = "") -> Iterator[Cause]:
    """Every violation of the schema."""
    if value is None and shape.nullable:
        return
    if not _right_type(value, shape):
        got = _type_name(value)
        yield path, INVALID, f'Invalid value: "{got}": {path} in body must be of type {_expected(shape)}: "{got}"'
        return
    yield from _value_rules(value, shape.rules, path)
    if is_map(value):
        for name in shape.required:
            if name not in value:
                yield _join(path, name), REQUIRED, "Required value"
        for name, child in value.items():
            if path == "" and name == "metadata":
                continue
            known = shape.fields.get(name) or (shape.element if shape.type == s.MAP else None)
            if known is not None:
                yield from broken_schema(child, known, _join(path, name))
    elif is_list(value) and shape.element is not None:
        for index, item in enumerate(value):
            yield from broken_schema(item, shape.element, f"{path}[{index}]")
        yield from _list_keys(value, shape, path)


def _shape(schema: Object) -> Shape:
    kind = schema.get("type")
    open_ = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    if schema.get("x-kubernetes-int-or-string"):
        shape = Shape(s.INT_OR_STRING)
    elif kind == "object" or "properties" in schema:
        shape = _object_shape(schema, open_)
    elif kind == "array":
        shape = _array_shape(schema)
    elif kind in (s.STRING, s.INTEGER, s.NUMBER, s.BOOLEAN):
        shape = Shape(kind)
    else:
        shape = Shape(s.ANY, open=True)
    shape.nullable = bool(schema.get("nullable"))
    shape.embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    shape.rules = {key: schema[key] for key in _RULES if key in schema}
    if "default" in schema:
        shape.default, shape.has_default = schema["default"], True
    inner = [*shape.fields.values(), *([shape.element] if shape.element else [])]
    shape.defaulted = any(child.has_default or child.defaulted for child in inner)
    return shape


def _object_shape(schema: Object, open_: bool) -> Shape:
    atomic = schema.get("x-kubernetes-map-type") == "atomic"
    additional = schema.get("additionalProperties")
    if additional and "properties" not in schema:
        element = _shape(additional) if is_map(additional) else s.ANYTHING
        return Shape(s.MAP, element=element, atomic=atomic, open=open_)
    properties: Object = mapping(schema, "properties")
    fields = {name: _shape(child) for name, child in properties.items()}
    required = tuple(schema.get("required") or ())
    return Shape(s.OBJECT, fields=fields, atomic=atomic, open=open_, required=required)


def _array_shape(schema: Object) -> Shape:
    items = schema.get("items")
    element = _shape(items) if is_map(items) else s.ANYTHING
    list_type = schema.get("x-kubernetes-list-type", "atomic")
    keys = tuple(schema.get("x-kubernetes-list-map-keys") or ()) if list_type == "map" else ()
    return Shape(s.LIST, element=element, keys=keys, is_set=list_type == "set", atomic=list_type == "atomic")


def _right_type(value: Any, shape: Shape) -> bool:
    match shape.type:
        case s.OBJECT | s.MAP:
            return is_map(value)
        case s.LIST:
            return is_list(value)
        case s.STRING:
            return isinstance(value, str)
        case s.BOOLEAN:
            return isinstance(value, bool)
        case s.INTEGER:
            return isinstance(value, int) and not isinstance(value, bool)
        case s.NUMBER:
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case s.INT_OR_STRING:
            return isinstance(value, (int, str)) and not isinstance(value, bool)
        case _:
            return True


def _value_rules(value: Any, rules: Object, path: str) -> Iterator[Cause]:
    if not rules:
        return
    if "enum" in rules and value not in rules["enum"]:
        choices = ", ".join(f'"{each}"' for each in rules["enum"])
        yield path, UNSUPPORTED, f'Unsupported value: "{value}": supported values: {choices}'
    if isinstance(value, str):
        yield from _string_rules(value, rules, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _number_rules(value, rules, path)
    elif is_list(value):
        yield from _size_rules(len(value), rules, path, "Items", "items")
        if rules.get("uniqueItems") and any(item in value[:index] for index, item in enumerate(value)):
            yield path, INVALID, f"Invalid value: {path} in body shouldn't contain duplicates"
    elif is_map(value):
        yield from _size_rules(len(value), rules, path, "Properties", "properties")
    yield from _combined(value, rules, path)


def _string_rules(value: str, rules: Object, path: str) -> Iterator[Cause]:
    if "pattern" in rules and re.search(rules["pattern"], value) is None:
        yield path, INVALID, f"Invalid value: \"{value}\": {path} in body should match '{rules['pattern']}'"
    if "minLength" in rules and len(value) < rules["minLength"]:
        yield (
            path,
            INVALID,
            f'Invalid value: "{value}": {path} in body should be at least {rules["minLength"]} chars long',
        )
    if "maxLength" in rules and len(value) > rules["maxLength"]:
        yield path, TOO_LONG, f"Too long: may not be more than {rules['maxLength']} bytes"


def _number_rules(value: float, rules: Object, path: str) -> Iterator[Cause]:
    low, high = rules.get("minimum"), rules.get("maximum")
    if low is not None and (value < low or (rules.get("exclusiveMinimum") and value == low)):
        yield path, INVALID, f"Invalid value: {value}: {path} in body should be greater than or equal to {low}"
    if high is not None and (value > high or (rules.get("exclusiveMaximum") and value == high)):
        yield path, INVALID, f"Invalid value: {value}: {path} in body should be less than or equal to {high}"
    if rules.get("multipleOf") and value % rules["multipleOf"]:
        yield path, INVALID, f"Invalid value: {value}: {path} in body should be a multiple of {rules['multipleOf']}"


def _size_rules(size: int, rules: Object, path: str, suffix: str, what: str) -> Iterator[Cause]:
    low, high = rules.get(f"min{suffix}"), rules.get(f"max{suffix}")
    if low is not None and size < low:
        yield path, INVALID, f"Invalid value: {size}: {path} in body should have at least {low} {what}"
    if high is not None and size > high:
        yield path, "FieldValueTooMany", f"Too many: {size}: must have at most {high} {what}"


def _combined(value: Any, rules: Object, path: str) -> Iterator[Cause]:
    if "allOf" in rules and not all(_holds(value, each) for each in rules["allOf"]):
        yield path, INVALID, f"Invalid value: {path} must validate all the schemas (allOf)"
    if "anyOf" in rules and not any(_holds(value, each) for each in rules["anyOf"]):
        yield path, INVALID, f"Invalid value: {path} in body must validate at least one schema (anyOf)"
    if "oneOf" in rules and sum(_holds(value, each) for each in rules["oneOf"]) != 1:
        yield path, INVALID, f"Invalid value: {path} in body must validate one and only one schema (oneOf)"
    if "not" in rules and _holds(value, rules["not"]):
        yield path, INVALID, f"Invalid value: {path} in body must not validate the schema (not)"


def _holds(value: Any, schema: Object) -> bool:
    shape = _shape(schema)
    if "type" not in schema and "properties" in schema and not is_map(value):
        return True
    shape.required = tuple(schema.get("required") or ())
    if is_map(value) and any(name not in value for name in shape.required):
        return False
    return next(broken_schema(value, shape, "."), None) is None


def _list_keys(value: list[Any], shape: Shape, path: str) -> Iterator[Cause]:
    if shape.is_set and any(item in value[:index] for index, item in enumerate(value)):
        yield path, DUPLICATE, "Duplicate value"
    if not shape.keys:
        return
    seen: list[list[Any]] = []
    for index, item in enumerate(value):
        key = [item.get(name) for name in shape.keys] if is_map(item) else []
        if key in seen:
            yield f"{path}[{index}]", DUPLICATE, f"Duplicate value: {dict(zip(shape.keys, key, strict=False))!r}"
        seen.append(key)


def _expected(shape: Shape) -> str:
    return {s.MAP: "object", s.LIST: "array", s.INT_OR_STRING: "integer,string"}.get(shape.type, shape.type)


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    for types, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array")):
        if isinstance(value, types):
            return name
    return "object"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
