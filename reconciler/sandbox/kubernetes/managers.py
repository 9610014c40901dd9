"""metadata.managedFields: who wrote what, kept up to date by every write."""

from collections.abc import Iterable
from typing import Any

from reconciler.sandbox.kubernetes import ownership
from reconciler.sandbox.kubernetes.objects import Object, items
from reconciler.sandbox.kubernetes.ownership import Fields
from reconciler.sandbox.kubernetes.shapes import Shape

Entry = dict[str, Any]


def after_update(
    old: Object | None, new: Object, shape: Shape, *, manager: str, subresource: str, now: str
) -> list[Entry]:
    """The entries after a plain write: what changed is the writer's now and nobody else's."""
    entries = entries_of(old) if old else []
    changed, removed = ownership.changed_fields(old or {}, new, shape)
    if not changed and not removed:
        return entries
    kept: list[Entry] = []
    mine: Fields = {}
    for entry in entries:
        fields = ownership.difference(entry["fieldsV1"], removed)
        if same_manager(entry, manager, "Update", subresource):
            mine = fields
            continue
        fields = ownership.difference(fields, changed)
        if fields:
            kept.append(entry if fields == entry["fieldsV1"] else {**entry, "fieldsV1": fields})
    mine = ownership.union(mine, changed)
    if mine:
        kept.append(entry_for(new, manager=manager, operation="Update", subresource=subresource, now=now, fields=mine))
    return in_order(kept)


def in_order(entries: list[Entry]) -> list[Entry]:
    """Appliers first, then the older ones, then by name."""
    return sorted(entries, key=lambda each: tuple(each.get(key, "") for key in _ORDER))


def before_first_apply(live: Object, shape: Shape, now: str) -> list[Entry]:
    """Who owns an object that nobody is written down for: all that it has. Nothing for one that is not there yet."""
    if not live["metadata"].get("uid"):
        return []
    return after_update(None, live, shape, manager="before-first-apply", subresource="", now=now)


def pruned(entries: Iterable[Entry], removed: Fields) -> list[Entry]:
    """The entries without fields that are gone from the object."""
    kept: list[Entry] = []
    for entry in entries:
        fields = ownership.difference(entry["fieldsV1"], removed)
        if fields:
            kept.append({**entry, "fieldsV1": fields})
    return kept


def entry_for(obj: Object, *, manager: str, operation: str, subresource: str, now: str, fields: Fields) -> Entry:
    entry: Entry = {
        "manager": manager,
        "operation": operation,
        "apiVersion": obj["apiVersion"],
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    if subresource:
        entry["subresource"] = subresource
    return entry


def entries_of(obj: Object) -> list[Entry]:
    entries: list[Entry] = items(obj["metadata"], "managedFields")
    return entries


def same_manager(entry: Entry, manager: str, operation: str, subresource: str) -> bool:
    same: bool = (
        entry["manager"] == manager and entry["operation"] == operation and entry.get("subresource", "") == subresource
    )
    return same


def same_but_for_time(a: list[Entry], b: list[Entry]) -> bool:
    if a is b:
        return True
    if len(a) != len(b):
        return False
    return all({**x, "time": ""} == {**y, "time": ""} for x, y in zip(a, b, strict=True))


def is_as_stored(live: Object, merged: Object) -> bool:
    """Nothing to default, validate or write: most of what a reconciler applies."""
    if not same_but_for_time(entries_of(merged), entries_of(live)):
        return False
    bare, stored = dict(merged), dict(live)
    metadata, kept = dict(bare.pop("metadata")), dict(stored.pop("metadata"))
    metadata.pop("managedFields", None)
    kept.pop("managedFields", None)
    return metadata == kept and bare == stored


_ORDER = ("operation", "time", "manager", "apiVersion", "subresource")
