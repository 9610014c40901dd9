"""The constraints of a botocore shape that its client does not enforce, plus those it does.

A raw HTTP client reaches the sandbox too, so nothing is taken on trust. Messages have AWS's wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "structure": (dict,),
    "map": (dict,),
    "list": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
}


def violations(shape: Any, value: dict[str, Any]) -> list[str]:
    """What is wrong with an input, one sentence each; empty if nothing."""
    return list(_check(shape, value, ""))


def _check(shape: Any, value: Any, path: str) -> Iterator[str]:
    kind = shape.type_name
    allowed = _PYTHON_TYPES.get(kind)
    if allowed and (not isinstance(value, allowed) or (kind != "boolean" and isinstance(value, bool))):
        yield f"Value at '{path}' failed to satisfy constraint: Member must be of type {kind}"
        return
    if kind == "structure":
        yield from _structure(shape, value, path)
    elif kind == "list":
        yield from _size(shape, len(value), value, path)
        for index, item in enumerate(value, start=1):
            yield from _check(shape.member, item, f"{path}.{index}.member")
    elif kind == "map":
        yield from _size(shape, len(value), value, path)
        for key, item in value.items():
            yield from _check(shape.key, key, f"{path}.{key}.key")
            yield from _check(shape.value, item, f"{path}.{key}.value")
    elif kind == "string":
        yield from _string(shape, value, path)
    elif kind in ("integer", "long", "float", "double"):
        yield from _range(shape, value, path)


def _structure(shape: Any, value: dict[str, Any], path: str) -> Iterator[str]:
    present = {name: item for name, item in value.items() if item is not None}
    for name in shape.required_members:
        if name not in present:
            yield f"Value null at '{_join(path, name)}' failed to satisfy constraint: Member must not be null"
    if shape.metadata.get("union") and len(present) != 1:
        yield f"Value at '{path}' failed to satisfy constraint: exactly one of {sorted(shape.members)} must be set"
    for name, item in present.items():
        member = shape.members.get(name)
        if member is None:
            yield f"Value at '{_join(path, name)}' failed to satisfy constraint: unknown member"
        else:
            yield from _check(member, item, _join(path, name))


def _string(shape: Any, value: str, path: str) -> Iterator[str]:
    yield from _size(shape, len(value), value, path)
    enum = shape.metadata.get("enum")
    if enum and value not in enum:
        yield f"Value '{value}' at '{path}' failed to satisfy constraint: Member must satisfy enum value set: {enum}"
    pattern = shape.metadata.get("pattern")
    if pattern and (compiled := _pattern(pattern)) and not compiled.fullmatch(value):
        yield f"Value '{value}' at '{path}' failed to satisfy constraint: Member must match pattern: {pattern}"


def _size(shape: Any, size: int, value: Any, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    shown = repr(value) if isinstance(value, str) else "..."
    if low is not None and size < low:
        yield f"Value {shown} at '{path}' failed to satisfy constraint: Member must have length >= {low}"
    if high is not None and size > high:
        yield f"Value {shown} at '{path}' failed to satisfy constraint: Member must have length <= {high}"


def _range(shape: Any, value: float, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if low is not None and value < low:
        yield f"Value {value} at '{path}' failed to satisfy constraint: Member must be greater than or equal to {low}"
    if high is not None and value > high:
        yield f"Value {value} at '{path}' failed to satisfy constraint: Member must be less than or equal to {high}"


@cache
def _pattern(text: str) -> re.Pattern[str] | None:
    # Java's Unicode classes; Python's re has near equivalents.
    for java, python in ((r"\p{L}", r"\w"), (r"\p{N}", r"\d"), (r"\p{Z}", r"\s")):
        text = text.replace(java, python)
    try:
        return re.compile(text)
    except re.error:
        return None


def _join(path: str, name: str) -> str:
    name = name[:1].lower() + name[1:]
    return f"{path}.{name}" if path else name
