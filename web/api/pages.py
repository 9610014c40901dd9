"""Lists in pages: `limit` and an opaque `cursor`; the answer says where the next page begins.

A cursor holds the key of the last item that was given, not a count: what is added or removed meanwhile makes no item
come twice or be left out.
"""

from __future__ import annotations

import base64
import bisect
import json
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict

from schemas.errors import InvalidInput

Item = TypeVar("Item")
Shown = TypeVar("Shown")
DEFAULT, MOST = 100, 500


class Page(BaseModel, Generic[Item]):
    """`next`: the cursor of the next page; null: there is none."""

    model_config = ConfigDict(frozen=True)

    items: list[Item]
    next: str | None = None


class Asked:
    """Which page is asked for."""

    def __init__(
        self,
        limit: Annotated[int, Query(ge=1, le=MOST, description="Items at most")] = DEFAULT,
        cursor: Annotated[str | None, Query(max_length=1000, description="`next` of the page before")] = None,
    ) -> None:
        self.limit = limit
        self.cursor = cursor


PageAsked = Annotated[Asked, Depends()]


def page(
    items: Iterable[Item], asked: Asked, *, key: Callable[[Item], str], newest_first: bool = False
) -> tuple[list[Item], str | None]:
    """The items of a page and the cursor of the next. `key`: unique and stable, and the order of the list."""
    ordered = sorted(items, key=key)
    keys = [key(item) for item in ordered]
    low, high = 0, len(ordered)
    if asked.cursor is not None:
        after = decoded(asked.cursor)
        low, high = (0, bisect.bisect_left(keys, after)) if newest_first else (bisect.bisect_right(keys, after), high)
    if newest_first:
        found = ordered[max(low, high - asked.limit) : high][::-1]
        more = high - len(found) > low
    else:
        found = ordered[low : low + asked.limit]
        more = low + len(found) < high
    return found, encoded(key(found[-1])) if more and found else None


def encoded(key: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([key]).encode()).decode().rstrip("=")


def decoded(cursor: str) -> str:
    """Raises InvalidInput."""
    try:
        told: Any = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except ValueError:
        told = None
    match told:
        case [str(key)]:
            return key
        case _:
            raise InvalidInput("the cursor is none that a page has given", reason="BadCursor")
