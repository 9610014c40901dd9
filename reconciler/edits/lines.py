"""Two edits of one text made into one, line by line, where they do not touch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
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
    left, right = _matching(base, ours), _matching(base, theirs)
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


def _matching(one: Sequence[str], other: Sequence[str]) -> list[Match]:
    """What two texts have in common. What they begin and end with is not searched: an edit changes few lines."""
    shorter = min(len(one), len(other))
    head = next((place for place in range(shorter) if one[place] != other[place]), shorter)
    left = shorter - head
    tail = next((place for place in range(left) if one[-1 - place] != other[-1 - place]), left)
    middle = SequenceMatcher(
        None, one[head : len(one) - tail], other[head : len(other) - tail], autojunk=False
    ).get_matching_blocks()
    return [
        Match(0, 0, head),
        *(Match(match.a + head, match.b + head, match.size) for match in middle[:-1]),
        Match(len(one) - tail, len(other) - tail, tail),
        Match(len(one), len(other), 0),
    ]
