"""Two edits of one text made into one, line by line, where they do not touch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple


def merged(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    """The lines with both changes; None where both changed the same lines, or lines that touch, differently."""
    found: list[str] = []
    at_base = at_ours = at_theirs = 0
    for common in _common(base, ours, theirs):
        was, mine = base[at_base : common.base], ours[at_ours : common.ours]
        yours = theirs[at_theirs : common.theirs]
        if mine in (was, yours):
            found += yours
        elif yours == was:
            found += mine
        else:
            return None
        found += base[common.base : common.base + common.length]
        at_base, at_ours, at_theirs = (start + common.length for start in common[:3])
    return found


class _Common(NamedTuple):
    """Lines that all three have, from these places on."""

    base: int
    ours: int
    theirs: int
    length: int


def _common(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[_Common]:
    """In order; the last one is empty and stands at the end."""
    left = SequenceMatcher(None, base, ours, autojunk=False).get_matching_blocks()
    right = SequenceMatcher(None, base, theirs, autojunk=False).get_matching_blocks()
    one = other = 0
    while one < len(left) and other < len(right):
        mine, yours = left[one], right[other]
        start, end = max(mine.a, yours.a), min(mine.a + mine.size, yours.a + yours.size)
        if start < end:
            yield _Common(start, mine.b + start - mine.a, yours.b + start - yours.a, end - start)
        if mine.a + mine.size < yours.a + yours.size:
            one += 1
        else:
            other += 1
    yield _Common(len(base), len(ours), len(theirs), 0)
