"""Does a live object already say what we want it to say? Pure.

Two questions. `holds`: certainly nothing to do, judged from the object alone: all that we write is there, and all
that our managedFields entry owns we still write. It may only err towards "not certain". `differences`: what a
server-side dry run would change, as an RFC 6902 patch, with what is equal by meaning left out.
Lists are read as the server reads them: our managedFields entry says which are keyed (`k:`), which are sets (`v:`)
and which are one value.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from reconciler.live.kube.kinds import ObjectKey
from reconciler.live.kube.quantities import equal_quantities, holds_quantities
from reconciler.live.redaction import HIDDEN
from schemas.values import JsonObject

MANAGER = "instantstart"
TEXT_KINDS = frozenset({"ConfigMap", "Secret"})  # their values are text, even if it reads like a quantity
SERVER_SET = frozenset(
    {"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid", "selfLink", "deletionTimestamp"}
)
NOT_OWNED = frozenset({"name", "namespace", "generateName", *SERVER_SET})
_INSIDE = (dict, list)
PEOPLE = ("kubectl", "k9s", "Lens", "Mozilla", "dashboard", "octant", "headlamp", "node-fetch")


class State(enum.StrEnum):
    SAME = "same"
    DIFFERS = "differs"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One desired object against the cluster.

    `patch` leads from the live object to what applying would make (values of Secrets hidden). `problem` is why the
    server would refuse it, or why nobody knows. `unmanaged` are JSON pointers that a person set by hand where we say
    nothing: applying does not touch them.
    """

    key: ObjectKey
    state: State
    patch: tuple[JsonObject, ...] = ()
    live: JsonObject | None = None
    reason: str = ""
    problem: str = ""
    unmanaged: tuple[str, ...] = ()


def holds(desired: Mapping[str, Any], live: Mapping[str, Any], manager: str = MANAGER) -> bool:
    """Whether applying `desired` would certainly change nothing but managedFields."""
    owned = _our_fields(live, manager)
    if owned is None:
        return False
    amounts = desired.get("kind") not in TEXT_KINDS
    wanted = {k: v for k, v in desired.items() if k not in ("apiVersion", "kind", "metadata", "status")}
    fields = {k: v for k, v in owned.items() if k not in ("f:metadata", "f:status")}
    meta = {k: v for k, v in _map(desired.get("metadata")).items() if k not in NOT_OWNED}
    return _holds_map(wanted, live, fields, "", amounts) and _holds_map(
        meta, _map(live.get("metadata")), _map(owned.get("f:metadata")), "metadata", False
    )


def differences(live: Mapping[str, Any], after: Mapping[str, Any]) -> list[JsonObject]:
    """RFC 6902 operations from `live` to `after`; status and what the server sets are left out."""
    amounts = after.get("kind") not in TEXT_KINDS
    found = list(_differences(_comparable(live), _comparable(after), (), amounts))
    if after.get("kind") == "Secret":
        return [_hidden(change) for change in found]
    return found


def addition(desired: Mapping[str, Any]) -> list[JsonObject]:
    """The patch that makes an absent object."""
    change: JsonObject = {"op": "add", "path": "", "value": dict(desired)}
    if desired.get("kind") == "Secret":
        kept = {k: v for k, v in desired.items() if k not in ("data", "stringData")}
        change["value"] = {**kept, "data": HIDDEN}
    return [change]


def dropped(sent: Mapping[str, Any], stored: Mapping[str, Any]) -> list[str]:
    """JSON pointers of what was sent and not stored: misspelt fields, mostly (C29)."""
    wanted = {k: v for k, v in sent.items() if k not in ("apiVersion", "kind", "metadata", "status", "stringData")}
    return [_pointer(path) for path in _dropped(wanted, stored, ())]


def touched_by_people(live: Mapping[str, Any], manager: str = MANAGER) -> list[str]:
    """JSON pointers of fields that a person set by hand and that we do not own (B06)."""
    ours: Mapping[str, Any] = _our_fields(live, manager) or {}
    found: list[str] = []
    for entry in _entries(live):
        by_hand = str(entry.get("manager") or "").startswith(PEOPLE) and not entry.get("subresource")
        if by_hand and entry.get("manager") != manager:
            found += [_pointer(path) for path in _leaves(_map(entry.get("fieldsV1")), ours, ())]
    return sorted(set(found))


def _our_fields(live: Mapping[str, Any], manager: str) -> Mapping[str, Any] | None:
    """What our apply owns; None if we never applied it, or under another version of its kind."""
    ours = [
        e
        for e in _entries(live)
        if e.get("manager") == manager and e.get("operation") == "Apply" and not e.get("subresource")
    ]
    if len(ours) != 1 or ours[0].get("apiVersion") != live.get("apiVersion"):
        return None
    return _map(ours[0].get("fieldsV1"))


def _holds_map(
    desired: Mapping[str, Any], live: Mapping[str, Any], owned: Mapping[str, Any], parent: str, amounts: bool
) -> bool:
    for key, value in desired.items():
        if key not in live:
            if value is None or value in ([], {}):
                continue  # the server drops what is empty
            return False
        there: Any = live[key]
        if not isinstance(value, _INSIDE) and value == there and type(value) is type(there):
            continue  # most fields: nothing to look for below, whoever owns them
        if not _holds(value, there, _map(owned.get(f"f:{key}")), parent, key, amounts):
            return False
    return all(name[2:] in desired for name in owned if name.startswith("f:"))


def _holds(desired: Any, live: Any, owned: Mapping[str, Any], parent: str, key: str, amounts: bool) -> bool:
    if isinstance(desired, dict):
        wanted = cast("JsonObject", desired)
        if not isinstance(live, dict):
            return False
        there = cast("JsonObject", live)
        if not owned and wanted.keys() != there.keys():
            return False  # one value as a whole, or never ours: let the server judge
        return _holds_map(wanted, there, owned, key, amounts)
    if isinstance(desired, list):
        return isinstance(live, list) and _holds_list(_list(desired), _list(live), owned, key, amounts)
    return _equal_scalars(desired, live, amounts and holds_quantities(parent, key))


def _holds_list(desired: Sequence[Any], live: Sequence[Any], owned: Mapping[str, Any], key: str, amounts: bool) -> bool:
    keyed = [name for name in owned if name.startswith("k:")]
    values = [name for name in owned if name.startswith("v:")]
    if keyed:
        return _holds_keyed(desired, live, {name: _map(owned[name]) for name in keyed}, key, amounts)
    if values:
        mine = [json.loads(name[2:]) for name in values]
        return all(v in mine and v in live for v in desired) and all(v in desired for v in mine)
    if len(desired) != len(live):
        return False
    return all(_holds(d, o, {}, key, "", amounts) for d, o in zip(desired, live, strict=True))


def _holds_keyed(
    desired: Sequence[Any], live: Sequence[Any], owned: Mapping[str, Mapping[str, Any]], key: str, amounts: bool
) -> bool:
    if len(desired) != len(owned):
        return False
    left = list(desired)
    for name, fields in owned.items():
        at: dict[str, Any] = json.loads(name[2:])
        wanted = next((d for d in left if _has_key(d, at, lenient=True)), None)
        there = next((o for o in live if _has_key(o, at, lenient=False)), None)
        if wanted is None or there is None:
            return False
        left.remove(wanted)
        if not _holds_map(
            wanted, there, {n: f for n, f in fields.items() if n[2:] not in at or n[2:] in wanted}, key, amounts
        ):
            return False
    return True


def _has_key(item: Any, at: Mapping[str, Any], *, lenient: bool) -> bool:
    """Whether the list item has these key fields; a desired one may leave a defaulted field (protocol) out."""
    if not isinstance(item, dict):
        return False
    fields = cast("JsonObject", item)
    return all(fields[k] == v if k in fields else lenient for k, v in at.items()) and any(k in fields for k in at)


def _equal_scalars(one: Any, other: Any, amount: bool) -> bool:
    if one == other:
        return isinstance(one, bool) == isinstance(other, bool)
    return amount and equal_quantities(one, other)


def _comparable(body: Mapping[str, Any]) -> JsonObject:
    kept = {k: v for k, v in body.items() if k not in ("status", "apiVersion", "kind")}
    kept["metadata"] = {k: v for k, v in _map(body.get("metadata")).items() if k not in SERVER_SET}
    return kept


def _differences(one: Any, other: Any, path: tuple[str, ...], amounts: bool) -> Iterator[JsonObject]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        before, after = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        for key in before.keys() - after.keys():
            if not _is_empty(before[key]):
                yield {"op": "remove", "path": _pointer((*path, key))}
        for key, value in after.items():
            if key in before:
                yield from _differences(before[key], value, (*path, key), amounts)
            elif not _is_empty(value):
                yield {"op": "add", "path": _pointer((*path, key)), "value": value}
        return
    if isinstance(one, list) and isinstance(other, list):
        old, new = _list(one), _list(other)
        if len(old) == len(new):
            for index, (was, is_) in enumerate(zip(old, new, strict=True)):
                yield from _differences(was, is_, (*path, str(index)), amounts)
            return
    elif _is_empty(one) and _is_empty(other):
        return
    else:
        parent, key = ("", "", *path)[-2:]
        if _equal_scalars(one, other, amounts and "metadata" not in path[:1] and holds_quantities(parent, key)):
            return
    yield {"op": "replace", "path": _pointer(path), "value": other}


def _dropped(sent: Any, stored: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(sent, dict) and isinstance(stored, dict):
        there = cast("JsonObject", stored)
        for key, value in cast("JsonObject", sent).items():
            if key in there:
                if value != there[key]:  # most of an object is stored as it was sent
                    yield from _dropped(value, there[key], (*path, key))
            elif not _is_empty(value) and value is not False and value not in (0, ""):
                yield (*path, key)
    elif isinstance(sent, list) and isinstance(stored, list):
        old, new = _list(sent), _list(stored)
        if len(old) == len(new):
            for index, (was, is_) in enumerate(zip(old, new, strict=True)):
                yield from _dropped(was, is_, (*path, str(index)))


def _leaves(fields: Mapping[str, Any], ours: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, inner in fields.items():
        if name == "." or (not path and name in ("f:status",)):
            continue
        step = (*path, name[2:])
        below = _map(inner)
        if any(n != "." for n in below):
            yield from _leaves(below, _map(ours.get(name)), step)
        elif name not in ours and "kubectl.kubernetes.io/last-applied-configuration" not in name:
            yield step


def _is_empty(value: Any) -> bool:
    return value is None or value in ([], {})


def _hidden(change: JsonObject) -> JsonObject:
    path = str(change["path"])
    if "value" not in change or not path.startswith(("/data", "/stringData")):
        return change
    return {**change, "value": HIDDEN}


def _pointer(path: tuple[str, ...]) -> str:
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in path)


def _entries(live: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(_map(live.get("metadata")).get("managedFields") or ())


def _map(value: Any) -> Mapping[str, Any]:
    return cast("JsonObject", value) if isinstance(value, dict) else {}  # JSON has no other mapping


def _list(value: Any) -> list[Any]:
    return list(value)
