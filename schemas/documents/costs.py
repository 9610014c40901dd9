"""The declared cost of every field of a kind, by JSON pointer."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pydantic.fields import FieldInfo

from schemas.documents import fields, walk
from schemas.documents.fields import FieldCost
from schemas.documents.kinds import KINDS
from schemas.documents.shapes import Shape


@functools.cache
def costs(kind: str) -> Mapping[str, FieldCost]:
    """Pointer pattern → cost, for every field under /spec; `*` stands for a list index or a mapping's key.

    Raises KeyError for a kind that does not exist.
    """
    spec: Any = KINDS[kind].model_fields["spec"].annotation
    return MappingProxyType(dict(_declared(spec, "/spec")))


def undeclared(kind: str) -> list[str]:
    """Pointers of fields that do not declare a cost. A test holds this empty."""
    spec: Any = KINDS[kind].model_fields["spec"].annotation
    return [pointer for pointer, field in _fields(spec, "/spec") if fields.said_of(field.json_schema_extra) is None]


def cost_at(kind: str, pointer: str) -> FieldCost | None:
    """The cost of the field a real pointer such as /spec/taints/0/key is in; the nearest declared one around it."""
    known = costs(kind)
    given = pointer.strip("/").split("/")
    for length in range(len(given), 0, -1):
        for pattern, cost in known.items():
            parts = pattern.strip("/").split("/")
            if len(parts) == length and all(part in ("*", name) for part, name in zip(parts, given, strict=False)):
                return cost
    return None


def _declared(model: type[Shape], prefix: str) -> Iterator[tuple[str, FieldCost]]:
    for pointer, field in _fields(model, prefix):
        said = fields.said_of(field.json_schema_extra)
        if said is not None:
            yield (
                pointer,
                FieldCost(
                    cost=said.cost,
                    when_removed=said.when_removed,
                    default=said.default,
                    way_out=said.way_out,
                    description=field.description or "",
                    unique_by=said.unique_by,
                ),
            )


def _fields(model: type[Shape], prefix: str) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        pointer = f"{prefix}/{field.alias or name}"
        yield pointer, field
        inner, depth = walk.innermost(field.annotation)
        if isinstance(inner, type) and issubclass(inner, Shape):
            yield from _fields(inner, pointer + "/*" * depth)
