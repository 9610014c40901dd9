"""The three patch formats besides apply: JSON patch, merge patch, strategic merge patch. Each returns a new tree."""

from typing import Any

from reconciler.sandbox.kubernetes import shapes as s
from reconciler.sandbox.kubernetes.errors import ApiError, bad_request
from reconciler.sandbox.kubernetes.objects import Object, clone, is_list, is_map, items
from reconciler.sandbox.kubernetes.shapes import ANYTHING, Shape

MAX_JSON_PATCH_OPERATIONS = 10_000


def merge_patch(tree: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not is_map(patch):
        return clone(patch)
    merged: Object = dict(tree) if is_map(tree) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def json_patch(tree: Object, operations: Any) -> Object:
    """RFC 6902. ApiError 400 for a malformed patch, 422 for one that does not apply."""
    if not is_list(operations):
        raise bad_request("a JSON patch is a list of operations")
    if len(operations) > MAX_JSON_PATCH_OPERATIONS:
        raise ApiError(413, "RequestEntityTooLarge", f"at most {MAX_JSON_PATCH_OPERATIONS} operations are allowed")
    document: Any = clone(tree)
    for operation in operations:
        if not is_map(operation) or "op" not in operation or not isinstance(operation.get("path"), str):
            raise bad_request("an operation of a JSON patch needs op and path")
        try:
            document = _operate(document, operation)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            text = f"{operation['op']} operation does not apply: doc is missing path: {operation['path']}: {error}"
            raise ApiError(
                422, "Invalid", "the server rejected our request due to an error in our request: " + text
            ) from error
    if not is_map(document):
        raise bad_request("a JSON patch may not replace the object by something else")
    return document


def strategic_merge(tree: Any, patch: Any, shape: Shape) -> Any:
    """Kubernetes' own: lists with a merge key merge by it. Knows `$patch`, `$retainKeys`, `$deleteFrom…`."""
    if is_map(patch):
        return _strategic_map(tree, patch, shape)
    if is_list(patch):
        return _strategic_list(tree, patch, shape)
    return patch


def _operate(document: Any, operation: Object) -> Any:
    path = _pointer(operation["path"])
    match operation["op"]:
        case "add":
            return _put(document, path, clone(operation["value"]), replace=False)
        case "replace":
            _take(document, path)
            return _put(document, path, clone(operation["value"]), replace=True)
        case "remove":
            return _remove(document, path)
        case "test":
            if _take(document, path) != operation["value"]:
                raise ValueError(f"testing value {operation['path']} failed")
            return document
        case "copy":
            return _put(document, path, clone(_take(document, _pointer(operation["from"]))), replace=False)
        case "move":
            value = _take(document, _pointer(operation["from"]))
            return _put(_remove(document, _pointer(operation["from"])), path, value, replace=False)
        case other:
            raise bad_request(f"unknown JSON patch operation {other!r}")


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise ValueError(f"{text!r} is no JSON pointer")
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]


def _take(document: Any, path: list[str]) -> Any:
    for step in path:
        document = document[_index(step, len(document))] if is_list(document) else document[step]
    return document


def _put(document: Any, path: list[str], value: Any, *, replace: bool) -> Any:
    if not path:
        return value
    parent, last = _take(document, path[:-1]), path[-1]
    if is_list(parent):
        if replace:
            parent[_index(last, len(parent))] = value
        else:
            parent.insert(len(parent) if last == "-" else _index(last, len(parent) + 1), value)
    elif is_map(parent):
        parent[last] = value
    else:
        raise TypeError("the parent is neither object nor array")
    return document


def _remove(document: Any, path: list[str]) -> Any:
    parent, last = _take(document, path[:-1]), path[-1]
    if is_list(parent):
        del parent[_index(last, len(parent))]
    else:
        del parent[last]
    return document


def _index(step: str, length: int) -> int:
    if not step.isdigit() or int(step) >= length:
        raise IndexError(f"no index {step}")
    return int(step)


def _strategic_map(tree: Any, patch: Object, shape: Shape) -> Any:
    if patch.get("$patch") == "replace":
        return {key: clone(value) for key, value in patch.items() if key != "$patch"}
    if patch.get("$patch") == "delete":
        return {}
    merged: Object = dict(tree) if is_map(tree) else {}
    if is_list(keep := patch.get("$retainKeys")):
        merged = {key: value for key, value in merged.items() if key in keep}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.split("/", 1)[1]
            merged[name] = [item for item in items(merged, name) if item not in value]
        elif key.startswith("$"):
            continue
        elif value is None:
            merged.pop(key, None)
        else:
            merged[key] = strategic_merge(merged.get(key), value, _child(shape, key))
    return merged


def _strategic_list(tree: Any, patch: list[Any], shape: Shape) -> list[Any]:
    if any(is_map(item) and item.get("$patch") == "replace" for item in patch):
        return [clone(item) for item in patch if not (is_map(item) and item.get("$patch") == "replace")]
    old: list[Any] = list(tree) if is_list(tree) else []
    if shape.is_set:
        return old + [item for item in patch if item not in old]
    key, element = shape.patch_key, shape.element or ANYTHING
    if not key or element.type != s.OBJECT:
        replaced: list[Any] = clone(patch)
        return replaced
    merged = {item.get(key): item for item in old}
    for item in patch:
        if not is_map(item) or key not in item:
            raise bad_request(f"map: {item!r} does not contain declared merge key: {key}")
        if item.get("$patch") == "delete":
            merged.pop(item[key], None)
        else:
            merged[item[key]] = strategic_merge(merged.get(item[key]), item, element)
    return list(merged.values())


def _child(shape: Shape, key: str) -> Shape:
    if shape.type == s.OBJECT:
        return shape.fields.get(key, ANYTHING)
    return shape.element or ANYTHING
