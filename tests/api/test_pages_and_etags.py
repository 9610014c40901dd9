"""Cursors that lose nothing, and ETags that compare as the standard says."""

from __future__ import annotations

import pytest

from schemas.errors import InvalidInput
from web.api import etags
from web.api.pages import Asked, decoded, encoded, page


def walk(items: list[str], limit: int, *, newest_first: bool = False) -> list[list[str]]:
    pages: list[list[str]] = []
    cursor: str | None = None
    while True:
        found, cursor = page(items, Asked(limit, cursor), key=str, newest_first=newest_first)
        pages.append(found)
        if cursor is None:
            return pages


@pytest.mark.parametrize(
    ("count", "limit", "sizes", "why"),
    [
        (0, 3, [0], "nothing is one empty page"),
        (3, 3, [3], "exactly a page has no next one"),
        (4, 3, [3, 1], "one more"),
        (7, 1, [1] * 7, "the smallest pages"),
    ],
)
def test_pages(count: int, limit: int, sizes: list[int], why: str) -> None:
    items = [f"{number:02d}" for number in range(count)]
    for newest_first in (False, True):
        pages = walk(items, limit, newest_first=newest_first)
        assert [len(found) for found in pages] == sizes, why
        assert [item for found in pages for item in found] == sorted(items, reverse=newest_first)


def test_what_comes_and_goes_meanwhile() -> None:
    items = ["b", "d", "f", "h"]
    first, cursor = page(items, Asked(2), key=str)
    items.remove("d")
    items += ["a", "e"]
    rest, _ = page(items, Asked(9, cursor), key=str)
    assert (first, rest) == (["b", "d"], ["e", "f", "h"]), "nothing twice, nothing left out, also when the last is gone"


@pytest.mark.parametrize("key", ["", "a", "Ünï", "a/b:c", '"', "\n", "x" * 300])
def test_a_cursor_keeps_its_key(key: str) -> None:
    assert decoded(encoded(key)) == key


@pytest.mark.parametrize("cursor", ["", "!", "e30", "WzFd", "WyJhIiwiYiJd", "/w==", "ÿ"])
def test_cursors_that_are_none(cursor: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        decoded(cursor)
    assert refused.value.reason == "BadCursor"


@pytest.mark.parametrize(
    ("told", "weak", "fits", "why"),
    [
        ('"a"', True, True, "the same"),
        ('"b"', True, False, "another"),
        ('"b", "a"', True, True, "one of several"),
        ("*", True, True, "any"),
        ('W/"a"', True, True, "If-None-Match compares weakly"),
        ('W/"a"', False, False, "If-Match does not"),
        ("a", True, False, "an ETag has quotes"),
        ("", True, False, "nothing"),
    ],
)
def test_etags_fit(told: str, weak: bool, fits: bool, why: str) -> None:
    assert etags.matches(told, '"a"', weak=weak) is fits, why


def test_an_etag_tells_its_parts_apart() -> None:
    made = [etags.of("a", "b"), etags.of("ab"), etags.of("a", None, "b"), etags.of("b", "a"), etags.of()]
    assert len(set(made)) == len(made)
    assert etags.of("a", "b") == etags.of("a", b"b"), "text is its bytes"
