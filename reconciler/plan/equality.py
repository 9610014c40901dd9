"""Equal by meaning: absent, null and empty are the same where they mean the same; numbers are numbers.

An empty *mapping* that stands alone means something (`spot: {}`) and is kept; an empty list or null says nothing.
Order matters in lists, except where a normal form has sorted them already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def equal(a: Any, b: Any) -> bool:
    """True if the two say the same."""
    return bool(_normal(a) == _normal(b))


def same_members(a: Any, b: Any) -> bool:
    """Lists compared as sets."""
    return sorted(map(str, a or ())) == sorted(map(str, b or ()))


def subset(desired: Any, observed: Any) -> bool:
    """Every leaf of the desired mapping is there with the same meaning; what else is there belongs to others."""
    if isinstance(desired, Mapping) and isinstance(observed, Mapping):
        wanted, seen = cast("Mapping[str, Any]", desired), cast("Mapping[str, Any]", observed)
        return all(subset(value, seen.get(key)) for key, value in wanted.items())
    return equal(desired, observed)


def _normal_mapping(members: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _normal(v) for k, v in members.items() if v is not None and v != []}


def _normal(value: Any) -> Any:
    match value:
        case bool() | None:
            return value
        case int() | float():
            return float(value)
        case Mapping():
            return _normal_mapping(cast("Any", value))
        case list() | tuple():
            items = [_normal(v) for v in cast("list[Any]", value)]
            return items or None
        case _:
            return value
