"""From a place in a document to the model and the type that are responsible for it."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Union, cast

from pydantic import StringConstraints
from pydantic.fields import FieldInfo

from schemas.documents.shapes import Shape
from schemas.reading.records import Path


def innermost(annotation: Any) -> tuple[Any, int]:
    """The type inside optionals, lists and mappings, and how many lists or mappings were around it."""
    depth = 0
    while True:
        annotation = _bare(annotation)
        item = _item(annotation)
        if item is None:
            return annotation, depth
        annotation, depth = item, depth + 1


def model_at(model: type[Shape], path: Path) -> type[Shape] | None:
    """The model that the mapping at `path` belongs to; None where anything may stand."""
    found = type_at(model, path)
    bare = _bare(found)
    return bare if isinstance(bare, type) and issubclass(bare, Shape) else None


def type_at(model: type[Shape], path: Path) -> Any:
    """The declared type of the value at `path`, with its constraints; None where there is none."""
    annotation: Any = model
    for step in path:
        bare: Any = _bare(annotation)
        if isinstance(bare, type) and issubclass(bare, Shape):
            field = _field(bare, step)
            if field is None:
                return None
            annotation = _with(field)
        else:
            annotation = _item(bare)
    return annotation


def field_at(model: type[Shape], path: Path) -> FieldInfo | None:
    """The field at `path`; None where there is none, or where it is inside a list or a free mapping."""
    if not path:
        return None
    owner = model_at(model, path[:-1])
    return _field(owner, path[-1]) if owner is not None else None


def pattern_of(annotation: Any) -> str | None:
    """The text pattern that an annotation asks for, if it does."""
    for part in (annotation, *_options(annotation)):
        for constraint in typing.get_args(part)[1:] if typing.get_origin(part) is typing.Annotated else ():
            pattern = constraint.pattern if isinstance(constraint, StringConstraints) else None
            pattern = pattern or getattr(constraint, "pattern", None)
            if isinstance(pattern, str):
                return pattern
    return None


def without_nulls(model: Any, value: Any) -> Any:
    """A value without the entries of its shapes that hold nothing: `requests:` with nothing behind it is absent.

    In free mappings (add-on values) null stays: there it can mean something.
    """
    bare: Any = _bare(model)
    if isinstance(bare, type) and issubclass(bare, Shape):
        if not isinstance(value, dict):
            return value
        mapping = cast("dict[str, Any]", value)
        return {key: without_nulls(type_at(bare, (key,)), item) for key, item in mapping.items() if item is not None}
    item_type = _item(bare)
    if item_type is not None and isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        return {key: without_nulls(item_type, item) for key, item in mapping.items()}
    if item_type is not None and isinstance(value, list):
        return [without_nulls(item_type, item) for item in cast("Sequence[Any]", value)]
    return value


def choices(annotation: Any) -> tuple[str, ...]:
    """The values of a Literal."""
    bare = _bare(annotation)
    return typing.get_args(bare) if typing.get_origin(bare) is typing.Literal else ()


def _field(model: type[Shape], alias: str | int) -> FieldInfo | None:
    return next((field for field in model.model_fields.values() if field.alias == alias), None)


def _with(field: FieldInfo) -> Any:
    """A field's type with the constraints that pydantic moved from the annotation to the field."""
    metadata: list[Any] = field.metadata
    annotation: Any = field.annotation
    return typing.Annotated[annotation, *metadata] if metadata else annotation


def _options(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) is typing.Annotated:
        return _options(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (Union, types.UnionType):
        return typing.get_args(annotation)
    return ()


def _bare(annotation: Any) -> Any:
    """Without Annotated and without `| None`."""
    while True:
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            annotation = typing.get_args(annotation)[0]
        elif origin in (Union, types.UnionType):
            rest = [option for option in typing.get_args(annotation) if option is not type(None)]
            if len(rest) != 1:
                return annotation
            annotation = rest[0]
        else:
            return annotation


def _item(bare: Any) -> Any:
    origin = typing.get_origin(bare)
    if origin is tuple:
        return typing.get_args(bare)[0]
    if isinstance(origin, type) and issubclass(cast("type[Any]", origin), Mapping):
        return typing.get_args(bare)[1]
    return None
