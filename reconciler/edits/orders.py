"""Which entries stay when entries change places: as many as can."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")


def longest_rising(items: Sequence[_Item], place: Callable[[_Item], int]) -> list[_Item]:
    """A longest part of `items`, in their order, whose places rise."""
    ends: list[int] = []  # the lowest last place of a rising part of each length
    where: list[int] = []  # which item that is
    before: list[int] = []
    for number, item in enumerate(items):
        length = bisect_left(ends, place(item))
        before.append(where[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place(item))
            where.append(number)
        else:
            ends[length], where[length] = place(item), number
    found: list[_Item] = []
    at = where[-1] if where else -1
    while at >= 0:
        found.append(items[at])
        at = before[at]
    return found[::-1]
