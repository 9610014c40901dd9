"""Who owns which field: sets of field paths in the FieldsV1 form, as tries.

A node is a dict from path element to node. `f:name` is a field,
`k:{...}` an item of a list-map by its keys, `v:...` an item of a set. A
node is a member of the set when it is empty or holds the key ".".
"""

from typing import Any, TypeAlias

import orjson

from reconciler.sandbox.kubernetes import shapes as s
from reconciler.sandbox.kubernetes.objects import Object, is_list, is_map
from reconciler.sandbox.kubernetes.shapes import ANYTHING, Shape

Fields: TypeAlias = dict[str, Any]

# never owned by anybody
_UNOWNED = frozenset({"apiVersion", "kind"})
_UNOWNED_METADATA = frozenset(
    {
        "name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields", "resourceVersion",
        "deletionTimestamp", "deletionGracePeriodSeconds", "generateName",
    }
)  # fmt: skip


def owned_fields(obj: Object, shape: Shape, *, only: str = "", but: str = "") -> Fields:
    """The fields that `obj` speaks of. `only`: that top field alone; `but`: all except that one."""
    fields: Fields = {}
    for key, value in obj.items():
        if key in _UNOWNED or key == but or (only and key != only):
            continue
        if key == "metadata":
            known = {name: child for name, child in value.items() if name not in _UNOWNED_METADATA}
            if known:
                fields["f:metadata"] = _fields(known, shape.fields.get("metadata", ANYTHING))
        else:
            fields[f"f:{key}"] = _fields(value, shape.fields.get(key, ANYTHING))
    return fields


def changed_fields(old: Any, new: Any, shape: Shape) -> tuple[Fields, Fields]:
    """(added or modified, removed) between two versions of a node, without what nobody owns."""
    set_, removed = _compare(old, new, shape)
    for fields in (set_, removed):
        for key in _UNOWNED:
            fields.pop(f"f:{key}", None)
        metadata = fields.get("f:metadata")
        if metadata:
            for key in _UNOWNED_METADATA:
                metadata.pop(f"f:{key}", None)
            metadata.pop(".", None)
        if metadata == {}:
            del fields["f:metadata"]
    return set_, removed


def union(a: Fields, b: Fields) -> Fields:
    if not a:
        return b
    if not b:
        return a
    merged = dict(a)
    for key, child in b.items():
        mine = merged.get(key)
        merged[key] = child if mine is None else _union_node(mine, child)
    return merged


def intersection(a: Fields, b: Fields) -> Fields:
    """Members of both."""
    common: Fields = {}
    for key, mine in a.items():
        other = b.get(key)
        if other is None or key == ".":
            continue
        child = intersection(mine, other)
        if is_member(mine) and is_member(other):
            common[key] = {".": {}, **child} if child else {}
        elif child:
            common[key] = child
    return common


def difference(a: Fields, b: Fields) -> Fields:
    """Members of `a` that are not members of `b`."""
    left: Fields = {}
    for key, mine in a.items():
        if key == ".":
            continue
        other = b.get(key)
        if other is None:
            left[key] = mine
            continue
        child = difference(mine, other)
        if is_member(mine) and not is_member(other):
            left[key] = {".": {}, **child} if child else {}
        elif child:
            left[key] = child
    return left


def without_subtrees(a: Fields, b: Fields) -> Fields:
    """`a` without the members of `b` and everything below them."""
    left: Fields = {}
    for key, mine in a.items():
        other = b.get(key)
        if other is None:
            left[key] = mine
        elif not is_member(other):
            child = without_subtrees(mine, other)
            if child:
                left[key] = child
    return left


def is_member(node: Fields) -> bool:
    return not node or "." in node


def paths(fields: Fields, prefix: str = "") -> list[str]:
    """The members as the real server writes them: `.spec.template.spec.containers[name="c"].image`."""
    found: list[str] = []
    for key, child in fields.items():
        if key == ".":
            continue
        here = prefix + _readable(key)
        if is_member(child):
            found.append(here)
        found += paths(child, here)
    return found


def item_element(item: Any, shape: Shape) -> str:
    """The path element of a list item. KeyError when a key is missing and has no default."""
    if shape.is_set:
        return "v:" + orjson.dumps(item).decode()
    keys = {key: item[key] if key in item else _KEY_DEFAULTS[key] for key in shape.keys}
    return "k:" + orjson.dumps(keys, option=orjson.OPT_SORT_KEYS).decode()


_KEY_DEFAULTS = {"protocol": "TCP"}


def _fields(value: Any, shape: Shape) -> Fields:
    if is_map(value):
        if not value or (shape.atomic and shape.type != s.ANY):
            return {}
        named, other = (shape.fields, ANYTHING) if shape.type == s.OBJECT else (None, shape.element or ANYTHING)
        if named is None:
            return {f"f:{key}": _fields(child, other) for key, child in value.items()}
        return {f"f:{key}": _fields(child, named.get(key, ANYTHING)) for key, child in value.items()}
    if is_list(value) and value and not shape.atomic and shape.type == s.LIST:
        items: Fields = {}
        element = shape.element or ANYTHING
        for item in value:
            items[item_element(item, shape)] = {} if shape.is_set else {".": {}, **_fields(item, element)}
        return items
    return {}


def _compare(old: Any, new: Any, shape: Shape) -> tuple[Fields, Fields]:
    """Both present. An empty answer at a leaf means equal, so leaves are told apart by the caller."""
    changed: Fields = {}
    removed: Fields = {}
    old_items, new_items = children(old, shape), children(new, shape)
    if old_items is None or new_items is None:
        return changed, removed
    for key, (value, child_shape) in new_items.items():
        before = old_items.get(key)
        if before is None:
            changed[key] = _whole(key, value, child_shape)
            continue
        was = before[0]
        if was is value or was == value:
            continue
        if children(was, child_shape) is None or children(value, child_shape) is None:
            changed[key] = {}
            gone = _fields(was, child_shape)
            if gone:
                removed[key] = gone
            fields = _fields(value, child_shape)
            if fields:
                changed[key] = fields
            continue
        below, lost = _compare(was, value, child_shape)
        if below:
            changed[key] = below
        if lost:
            removed[key] = lost
    for key, (value, child_shape) in old_items.items():
        if key not in new_items:
            removed[key] = _whole(key, value, child_shape)
    return changed, removed


def _whole(key: str, value: Any, shape: Shape) -> Fields:
    """A node that came or went as a whole; an item of a list-map is a member itself."""
    fields = _fields(value, shape)
    return {".": {}, **fields} if fields and key[0] != "f" else fields


def children(value: Any, shape: Shape) -> dict[str, tuple[Any, Shape]] | None:
    """Path element → (value, shape); None for a leaf (scalar, atomic, empty)."""
    if is_map(value):
        if not value or (shape.atomic and shape.type != s.ANY):
            return None
        if shape.type == s.OBJECT:
            return {f"f:{key}": (child, shape.fields.get(key, ANYTHING)) for key, child in value.items()}
        element = shape.element or ANYTHING
        return {f"f:{key}": (child, element) for key, child in value.items()}
    if is_list(value) and value and shape.type == s.LIST and not shape.atomic:
        element = shape.element or ANYTHING
        return {item_element(item, shape): (item, element) for item in value}
    return None


def _union_node(a: Fields, b: Fields) -> Fields:
    member = is_member(a) or is_member(b)
    merged = dict(union(a, b))
    if member and merged and "." not in merged:
        merged["."] = {}
    return merged


def _readable(key: str) -> str:
    mark, text = key[0], key[2:]
    if mark == "f":
        return f".{text}"
    if mark == "v":
        return f"[={text}]"
    keys: Object = orjson.loads(text)
    return "[" + ",".join(f"{name}={orjson.dumps(value).decode()}" for name, value in keys.items()) + "]"
