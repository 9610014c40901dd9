"""Plain JSON values, their canonical text and their digest.

Two writers that mean the same must produce the same digest, so there is one canonical form: keys sorted, no
white space, ASCII, no floats that are whole numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

JsonValue: TypeAlias = (
    Any  # None | bool | int | float | str | list | dict; a recursive alias slows mypy and helps nobody
)
JsonObject: TypeAlias = dict[str, JsonValue]
_type: Callable[[object], object] = type  # values are Any, and `type` would spread that


def canonical(value: JsonValue) -> str:
    """The one text of a JSON value."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(value: JsonValue) -> str:
    """sha256 of the canonical text, 64 hex digits."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def _plain(value: Any) -> Any:
    kind = _type(value)
    if kind is str or kind is int or kind is bool or value is None:  # most values, without asking any further
        return value
    if kind is dict:
        return {str(k): _plain(v) for k, v in value.items()}
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return int(value) if value.is_integer() else value
        case Mapping():
            return {str(k): _plain(v) for k, v in cast("dict[Any, Any]", value).items()}
        case set() | frozenset():
            return sorted(_plain(v) for v in cast("set[Any]", value))
        case Sequence():
            return [_plain(v) for v in cast("list[Any]", value)]
        case _:
            return value.as_json()
