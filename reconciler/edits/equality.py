"""Equal as JSON: true is not 1, but 1 is 1.0."""

from __future__ import annotations

from typing import Any, cast

from schemas.values import JsonValue


def same(one: JsonValue, other: JsonValue) -> bool:
    """Whether two plain JSON values are equal, as RFC 6902's `test` has it."""
    a: Any = one
    b: Any = other
    if isinstance(a, dict) and isinstance(b, dict):
        left, right = cast("dict[str, Any]", a), cast("dict[str, Any]", b)
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(a, list) and isinstance(b, list):
        first: list[Any] = cast("Any", a)
        second: list[Any] = cast("Any", b)
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return bool(a == b) and (isinstance(a, (int, float)) == isinstance(b, (int, float)))
