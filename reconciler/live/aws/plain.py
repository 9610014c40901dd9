"""Answers of botocore as plain JSON: moments become ISO text, bytes become base64, bookkeeping goes."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import botocore.utils

from reconciler.live.clock import iso
from schemas.values import JsonObject, JsonValue

_AS_IT_IS = frozenset({str, int, bool, float, type(None)})


def plain_answer(answer: Mapping[str, Any]) -> JsonObject:
    """The answer without `ResponseMetadata`. A stream in it is a TypeError: read that with a helper of its own."""
    return {name: plain(value) for name, value in answer.items() if name != "ResponseMetadata"}


def plain(value: Any) -> JsonValue:
    held: Any = value
    match value:
        case None | bool() | int() | float() | str():
            return value
        case dict():
            # Nearly everything is a scalar in a dict: a call for each would be half of the time.
            return {str(k): v if type(v) in _AS_IT_IS else plain(v) for k, v in held.items()}
        case list() | tuple():
            return [plain(v) for v in held]
        case datetime():
            return iso(value)
        case bytes() | bytearray():
            return base64.b64encode(value).decode("ascii")
        case _:
            raise TypeError(f"an answer holds a {type(value).__name__}, which is no JSON")


def moment(value: Any) -> str:
    """A moment of an answer (epoch seconds, or text in one of AWS's forms) as ISO text.

    The parser of botocore calls it. Its own makes a datetime in the local zone, which is half the cost of a page of
    nodes.
    """
    try:
        return iso(datetime.fromtimestamp(float(value), UTC))
    except (TypeError, ValueError, OverflowError, OSError):
        pass
    try:
        return iso(datetime.fromisoformat(value))
    except (TypeError, ValueError):
        untyped: Any = botocore.utils
        return iso(untyped.parse_timestamp(value))
