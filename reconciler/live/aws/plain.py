"""Answers of botocore as plain JSON: moments become ISO text, bytes become base64, bookkeeping goes."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reconciler.live.clock import iso
from schemas.values import JsonObject, JsonValue


def plain_answer(answer: Mapping[str, Any]) -> JsonObject:
    """The answer without `ResponseMetadata`. A stream in it is a TypeError: read that with a helper of its own."""
    return {name: plain(value) for name, value in answer.items() if name != "ResponseMetadata"}


def plain(value: Any) -> JsonValue:
    held: Any = value
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return iso(value)
        case bytes() | bytearray():
            return base64.b64encode(value).decode("ascii")
        case dict():
            return {str(k): plain(v) for k, v in held.items()}
        case list() | tuple():
            return [plain(v) for v in held]
        case _:
            raise TypeError(f"an answer holds a {type(value).__name__}, which is no JSON")
