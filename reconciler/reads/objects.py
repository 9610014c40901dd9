"""Live Kubernetes objects to look at: whole, but for what is secret or looks like it. Pure.

A Secret shows its keys and no value. Elsewhere values of variables and fields with a telling name are hidden, and
whatever has the form of a secret; what bears a copy of the whole (the annotation of kubectl apply) is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from reconciler.live.redaction import redact
from schemas.secrets import HIDDEN, is_secret_name
from schemas.values import JsonObject

_COPIES: Final = ("kubectl.kubernetes.io/last-applied-configuration",)
_SECRET_FIELDS: Final = ("data", "stringData")


def shown(body: JsonObject) -> JsonObject:
    """A copy of the object that may be seen by any reader."""
    found = cast("dict[str, Any]", _clean("", body))
    meta = found.get("metadata")
    if isinstance(meta, dict):
        _tidy(cast("dict[str, Any]", meta))
    if body.get("kind") == "Secret":
        for field in _SECRET_FIELDS:
            if isinstance(body.get(field), Mapping):
                found[field] = dict.fromkeys(cast("Mapping[str, Any]", body[field]), HIDDEN)
    return found


def _tidy(meta: dict[str, Any]) -> None:
    meta.pop("managedFields", None)
    annotations = meta.get("annotations")
    if isinstance(annotations, dict):
        for name in _COPIES:
            cast("dict[str, Any]", annotations).pop(name, None)


def _clean(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return HIDDEN if value and is_secret_name(name) else redact(value)
    if isinstance(value, Mapping):
        return _clean_map(cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        return _clean_list(name, cast("Sequence[Any]", value))
    return value


def _clean_map(value: Mapping[str, Any]) -> dict[str, Any]:
    """A variable's name tells what its value is: {name: HF_TOKEN, value: …}."""
    called = value.get("name")
    hides = isinstance(called, str) and is_secret_name(called)
    return {
        redact(str(key)): HIDDEN if hides and key == "value" and inner else _clean(str(key), inner)
        for key, inner in value.items()
    }


def _clean_list(name: str, value: Sequence[Any]) -> list[Any]:
    """`--token`, then its value; else each by itself."""
    found: list[Any] = []
    flag = False
    for item in value:
        found.append(HIDDEN if flag and isinstance(item, str) else _clean("" if isinstance(item, str) else name, item))
        flag = isinstance(item, str) and item.startswith("-") and is_secret_name(item.lstrip("-"))
    return found
