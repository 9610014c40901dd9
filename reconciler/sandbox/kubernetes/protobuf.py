"""The few protobuf bodies that kubectl's typed clients send: new namespace, secret, config map; drain; auth can-i."""

import base64
from collections.abc import Iterator
from typing import Any, TypeAlias

from reconciler.sandbox.kubernetes.errors import ApiError
from reconciler.sandbox.kubernetes.objects import Object, is_list, mapping

MAGIC = b"k8s\0"

# field number → (JSON name, type); a type is a word, a nested schema, or a list of one of them
Schema: TypeAlias = dict[int, tuple[str, Any]]

_OWNER: Schema = {
    1: ("kind", "text"), 3: ("name", "text"), 4: ("uid", "text"), 5: ("apiVersion", "text"), 6: ("controller", "flag"),
    7: ("blockOwnerDeletion", "flag"),
}  # fmt: skip
_METADATA: Schema = {
    1: ("name", "text"), 2: ("generateName", "text"), 3: ("namespace", "text"), 5: ("uid", "text"),
    6: ("resourceVersion", "text"), 11: ("labels", "map"), 12: ("annotations", "map"),
    13: ("ownerReferences", [_OWNER]),
    14: ("finalizers", ["text"]),
}  # fmt: skip
_ATTRIBUTES: Schema = {
    1: ("namespace", "text"), 2: ("verb", "text"), 3: ("group", "text"), 4: ("version", "text"),
    5: ("resource", "text"),
    6: ("subresource", "text"), 7: ("name", "text"),
}  # fmt: skip
_PATH: Schema = {1: ("path", "text"), 2: ("verb", "text")}
_PRECONDITIONS: Schema = {1: ("uid", "text"), 2: ("resourceVersion", "text")}
_DELETE: Schema = {
    1: ("gracePeriodSeconds", "number"), 2: ("preconditions", _PRECONDITIONS), 4: ("propagationPolicy", "text"),
    5: ("dryRun", ["text"]),
}  # fmt: skip
_KINDS: dict[str, Schema] = {
    "Namespace": {1: ("metadata", _METADATA)},
    "ServiceAccount": {1: ("metadata", _METADATA)},
    "ConfigMap": {
        1: ("metadata", _METADATA), 2: ("data", "map"), 3: ("binaryData", "bytes map"), 4: ("immutable", "flag"),
    },
    "Secret": {
        1: ("metadata", _METADATA), 2: ("data", "bytes map"), 3: ("type", "text"), 4: ("stringData", "map"),
        5: ("immutable", "flag"),
    },
    "Eviction": {1: ("metadata", _METADATA), 2: ("deleteOptions", _DELETE)},
    "DeleteOptions": _DELETE,
    "SelfSubjectReview": {1: ("metadata", _METADATA)},
    "SelfSubjectAccessReview": {
        1: ("metadata", _METADATA),
        2: ("spec", {1: ("resourceAttributes", _ATTRIBUTES), 2: ("nonResourceAttributes", _PATH)}),
    },
}  # fmt: skip


def decode(raw: bytes) -> Object:
    """A body that starts with MAGIC. ApiError 415 for a kind not in the table."""
    envelope = _message(raw[4:], {1: ("type", {1: ("apiVersion", "text"), 2: ("kind", "text")}), 2: ("raw", "bytes")})
    meta: Object = mapping(envelope, "type")
    schema = _KINDS.get(meta.get("kind", ""))
    if schema is None:
        text = f"{meta.get('kind')} as protobuf is not supported here; send JSON"
        raise ApiError(415, "UnsupportedMediaType", text)
    return {**meta, **_message(base64.b64decode(envelope.get("raw", "")), schema)}


def _message(raw: bytes, schema: Schema) -> Object:
    found: Object = {}
    for number, value in _fields(raw):
        if number not in schema:
            continue
        name, kind = schema[number]
        if kind in ("map", "bytes map"):
            pair = dict(_fields(value))
            text = _value(pair.get(2, b""), "text" if kind == "map" else "bytes")
            found.setdefault(name, {})[pair.get(1, b"").decode()] = text
        elif is_list(kind):
            found.setdefault(name, []).append(_value(value, kind[0]))
        elif value not in (b"", 0) or kind == "number":
            found[name] = _value(value, kind)
    return found


def _value(value: Any, kind: Any) -> Any:
    match kind:
        case "text":
            return value.decode()
        case "bytes":
            return base64.b64encode(value).decode()
        case "flag":
            return bool(value)
        case "number":
            return value
        case _:
            return _message(value, kind)


def _fields(raw: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        if tag & 7 == 0:
            value, at = _varint(raw, at)
            yield tag >> 3, value
        elif tag & 7 == 2:
            size, at = _varint(raw, at)
            yield tag >> 3, raw[at : at + size]
            at += size
        else:
            raise ApiError(400, "BadRequest", f"protobuf wire type {tag & 7} is not supported")


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(raw):
        byte = raw[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
    raise ApiError(400, "BadRequest", "truncated protobuf body")
