"""Equal by meaning: absent, null and empty are the same where they mean the same; numbers are numbers.

An empty *mapping* that stands alone means something (`spot: {}`) and is kept; an empty list or null says nothing.
Order matters in lists, except where a normal form has sorted them already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from schemas import quantities


def equal(a: Any, b: Any) -> bool:
    """True if the two say the same."""
    return bool(_normal(a) == _normal(b))


def same_members(a: Any, b: Any) -> bool:
    """Lists compared as sets."""
    return sorted(map(str, a or ())) == sorted(map(str, b or ()))


def same_manifests(a: Any, b: Any) -> bool:
    """Kubernetes objects: amounts of storage compared by what they mean (1Ti is 1024Gi)."""
    return bool(_normal(_amounts(a)) == _normal(_amounts(b)))


def joined(ours: Any, live: Any, before: Any) -> Any:
    """What is live with ours in it, where others write beside us: mappings are gone into, lists are sets of members.

    What we wrote before and no longer do is taken out again; everything else that is there stays.
    """
    if isinstance(ours, Mapping) and isinstance(live, Mapping):
        return _joined_mappings(_mapping(cast("Any", ours)), _mapping(cast("Any", live)), _mapping(before))
    if isinstance(ours, (list, tuple)) and isinstance(live, (list, tuple)):
        mine, there, was = _list(cast("Any", ours)), _list(cast("Any", live)), _list(before)
        stays = [member for member in there if member in mine or member not in was]
        return [*stays, *(member for member in mine if member not in stays)]
    return cast("Any", ours)


def _joined_mappings(ours: Mapping[str, Any], live: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, there in live.items():
        was = before.get(name)
        if name in ours:
            found[name] = _entry(ours[name], there, was)
        elif name not in before:
            found[name] = there
        elif isinstance(was, Mapping) and isinstance(there, Mapping):
            left = _joined_mappings({}, _mapping(there), _mapping(was))
            found.update({name: left} if left else {})
    return found | {name: value for name, value in ours.items() if name not in live}


def _entry(ours: Any, live: Any, before: Any) -> Any:
    """Below the top a list is one value, as it is for those who read it."""
    return joined(ours, live, before) if isinstance(ours, Mapping) else ours


def _amounts(value: Any, name: str = "") -> Any:
    if isinstance(value, Mapping):
        return {key: _amounts(inner, key) for key, inner in _mapping(cast("Any", value)).items()}
    if name != "storage" or not isinstance(value, str):
        return value
    try:
        return str(quantities.parse(value).normalize())
    except quantities.NotAQuantity:
        return value


def _list(value: Any) -> list[Any]:
    return list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


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
