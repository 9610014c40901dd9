"""Server-side apply: merge what the applier wants, take away what it wanted before, refuse what others own."""

from typing import Any

from reconciler.sandbox.kubernetes import managers, ownership
from reconciler.sandbox.kubernetes import shapes as s
from reconciler.sandbox.kubernetes.errors import ApiError
from reconciler.sandbox.kubernetes.objects import Object, clone, is_list, is_map
from reconciler.sandbox.kubernetes.ownership import Fields
from reconciler.sandbox.kubernetes.shapes import ANYTHING, Shape


def applied(
    live: Object,
    wanted: Object,
    shape: Shape,
    *,
    manager: str,
    force: bool,
    subresource: str,
    now: str,
    has_status: bool,
) -> Object:
    """`live` after `wanted` was applied, with its managedFields. ApiError 409 names every conflicting field.

    `live` may be an empty skeleton (apiVersion, kind, metadata) for an object that is not there yet.
    """
    wanted_fields = _wanted_fields(wanted, shape, subresource, has_status)
    part = _owned_part(wanted, subresource, has_status)
    merged: Object = _merge(live, part, shape) if part else dict(live)  # a bare name owns no field
    entries = managers.entries_of(live) or managers.before_first_apply(live, shape, now)
    before: Fields = {}
    others: list[managers.Entry] = []
    for entry in entries:
        if managers.same_manager(entry, manager, "Apply", subresource):
            before = entry["fieldsV1"]
        else:
            others.append(entry)
    others = _without_conflicts(live, merged, shape, wanted_fields, others, force=force)
    gone = ownership.difference(before, wanted_fields)
    if gone:
        needed = wanted_fields
        for entry in others:
            needed = ownership.union(needed, entry["fieldsV1"])
        merged = _remove(merged, ownership.difference(gone, needed), needed, shape)
    mine = _mine(entries, wanted, manager, subresource, now, wanted_fields)
    metadata: Object = dict(merged["metadata"])
    metadata["managedFields"] = managers.in_order([*mine, *others])
    if not metadata["managedFields"]:
        del metadata["managedFields"]
    return {**merged, "metadata": metadata}


def _wanted_fields(wanted: Object, shape: Shape, subresource: str, has_status: bool) -> Fields:
    try:
        if subresource:
            return ownership.owned_fields(wanted, shape, only=subresource)
        return ownership.owned_fields(wanted, shape, but="status" if has_status else "")
    except KeyError as error:
        kind, name = wanted.get("kind"), wanted["metadata"].get("name")
        why = f"associative list with keys has an element that omits key field {error}"
        text = f"failed to create typed patch object ({name}; {kind}): {why}"
        raise ApiError(500, "", text) from error


def _owned_part(wanted: Object, subresource: str, has_status: bool) -> Object:
    if subresource:
        return {subresource: wanted[subresource]} if subresource in wanted else {}
    part = {key: value for key, value in wanted.items() if key not in ("apiVersion", "kind", "metadata")}
    if has_status:
        part.pop("status", None)
    metadata = {key: wanted["metadata"][key] for key in _APPLICABLE_METADATA if key in wanted["metadata"]}
    if metadata:
        part["metadata"] = metadata
    return part


def _without_conflicts(
    live: Object, merged: Object, shape: Shape, wanted: Fields, others: list[managers.Entry], *, force: bool
) -> list[managers.Entry]:
    changed, _ = ownership.changed_fields(live, merged, shape)
    if not changed:
        return others
    overwritten = ownership.intersection(changed, wanted)
    kept: list[managers.Entry] = []
    conflicts: list[tuple[managers.Entry, list[str]]] = []
    for entry in others:
        clash = ownership.intersection(entry["fieldsV1"], overwritten)
        if not clash:
            kept.append(entry)
            continue
        conflicts.append((entry, ownership.paths(clash)))
        left = ownership.difference(entry["fieldsV1"], clash)
        if left:
            kept.append({**entry, "fieldsV1": left})
    if conflicts and not force:
        raise _conflict(conflicts)
    return kept


def _conflict(conflicts: list[tuple[managers.Entry, list[str]]]) -> ApiError:
    causes: list[Object] = []
    texts: list[str] = []
    for entry, paths in conflicts:
        who = f'"{entry["manager"]}"'
        if entry["operation"] == "Update":
            if entry.get("subresource"):
                who += f' with subresource "{entry["subresource"]}"'
            who += f" using {entry['apiVersion']}"
        for path in paths:
            causes.append({"reason": "FieldManagerConflict", "message": f"conflict with {who}", "field": path})
        where = paths[0] if len(paths) == 1 else "\n- " + "\n- ".join(paths)
        texts.append(f"conflict with {who}: {where}" if len(paths) == 1 else f"conflicts with {who}:{where}")
    count = len(causes)
    message = f"Apply failed with {count} conflict{'s' if count > 1 else ''}: " + "\n".join(texts)
    return ApiError(409, "Conflict", message, causes=causes)


def _mine(
    entries: list[managers.Entry], wanted: Object, manager: str, subresource: str, now: str, fields: Fields
) -> list[managers.Entry]:
    if not fields:
        return []
    for entry in entries:
        if managers.same_manager(entry, manager, "Apply", subresource) and entry["fieldsV1"] == fields:
            return [entry]
    return [
        managers.entry_for(wanted, manager=manager, operation="Apply", subresource=subresource, now=now, fields=fields)
    ]


def _merge(live: Any, wanted: Any, shape: Shape) -> Any:
    """Objects and maps by key, list-maps by item, everything else replaced. Equal parts are shared, not copied."""
    if is_map(wanted) and is_map(live) and wanted and not (shape.atomic and shape.type != s.ANY):
        merged: Object = dict(live)
        named = shape.fields if shape.type == s.OBJECT else {}
        other = (shape.element or ANYTHING) if shape.type != s.OBJECT else ANYTHING
        for key, value in wanted.items():
            merged[key] = _merge(live[key], value, named.get(key, other)) if key in live else clone(value)
        return merged
    if is_list(wanted) and is_list(live) and shape.type == s.LIST and not shape.atomic:
        return _merge_items(live, wanted, shape)
    return live if live == wanted else clone(wanted)


def _merge_items(live: list[Any], wanted: list[Any], shape: Shape) -> list[Any]:
    element = shape.element or ANYTHING
    by_key = {ownership.item_element(item, shape): item for item in live}
    for item in wanted:
        key = ownership.item_element(item, shape)
        by_key[key] = _merge(by_key[key], item, element) if key in by_key else clone(item)
    order = [ownership.item_element(item, shape) for item in wanted]
    # the applier's order for its items, each of the others where it stood
    rest = iter(order)
    mine = set(order)
    keys = [next(rest) if key in mine else key for key in (ownership.item_element(item, shape) for item in live)]
    return [by_key[key] for key in [*keys, *rest]]


def _remove(tree: Any, gone: Fields, needed: Fields, shape: Shape) -> Any:
    """`tree` without the members of `gone`.

    An item of a list goes whole, with its defaults, unless somebody needs a part of it.
    """
    items = ownership.children(tree, shape)
    if items is None:
        return tree
    kept: dict[str, Any] = {}
    for key, (value, child_shape) in items.items():
        node = gone.get(key)
        if node is None:
            kept[key] = value
            continue
        need = needed.get(key)
        if need is None and ownership.is_member(node):
            continue
        left = _remove(value, node, need or {}, child_shape)
        if left or need is not None:
            kept[key] = left
    if is_list(tree):
        return list(kept.values())
    return {key[2:]: value for key, value in kept.items()}


_APPLICABLE_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
