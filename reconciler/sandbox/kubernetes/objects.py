"""Kubernetes objects as plain JSON trees, and the few moves every module makes on them.

Stored objects are never changed in place: whoever wants to change one
takes a `clone` first. That is what makes watches and responses safe.
"""

from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeGuard

import orjson

Object: TypeAlias = dict[str, Any]


def is_map(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def dig(tree: Any, *path: str) -> Any:
    """The value under `path`, or None where the path ends early."""
    for step in path:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(step)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return tree  # pyright: ignore[reportUnknownVariableType]


def items(tree: Any, *path: str) -> list[Any]:
    """The list under `path`; empty where there is none."""
    found = dig(tree, *path)
    return found if is_list(found) else []


def mapping(tree: Any, *path: str) -> Object:
    """The map under `path`; empty where there is none."""
    found = dig(tree, *path)
    return found if is_map(found) else {}


def clone(tree: Any) -> Any:
    """A deep copy of a JSON tree; quicker than copy.deepcopy by an order of magnitude."""
    if type(tree) is dict:
        return {key: clone(value) if type(value) in _CONTAINERS else value for key, value in tree.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if type(tree) is list:
        return [clone(value) if type(value) in _CONTAINERS else value for value in tree]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return tree


def namespace_of(obj: Object) -> str:
    return obj["metadata"].get("namespace") or ""


def name_of(obj: Object) -> str:
    name: str = obj["metadata"]["name"]
    return name


def rfc3339(epoch: float) -> str:
    """Epoch seconds as Kubernetes writes a metav1.Time."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def encode(value: Any) -> bytes:
    return orjson.dumps(value)


_CONTAINERS = frozenset({dict, list})
