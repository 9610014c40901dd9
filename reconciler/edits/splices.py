"""What is taken out of a text and what is put in: places in the old text, made into the new one in one go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Splice(NamedTuple):
    """`text` in the place of what stands from `start` to before `end`. An insertion has start = end."""

    start: int
    end: int
    text: str


class Overlap(ValueError):
    """Two splices want the same characters."""


@dataclass(frozen=True)
class Result:
    """A new text. `removed`: what was taken out, as ranges of the old one, in order; `added`: all that was put in."""

    text: str
    removed: tuple[tuple[int, int], ...]
    added: str


def spliced(text: str, splices: list[Splice]) -> Result:
    """The text with all splices. Insertions at one place stand in the order in which they are given, before what is
    taken out there. Deletions may touch the same lines."""
    parts: list[str] = []
    removed: list[tuple[int, int]] = []
    at = 0
    for start, end, new in sorted(splices, key=lambda splice: (splice.start, splice.end > splice.start)):
        if start < at:
            if new:
                raise Overlap
            start = at
        if end < start:
            continue
        parts += (text[at:start], new)
        if end > start:
            removed.append((start, end))
        at = end
    parts.append(text[at:])
    return Result("".join(parts), tuple(removed), "\n".join(splice.text for splice in splices))
