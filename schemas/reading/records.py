"""What a reading is: values, where each was written, and what was wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from schemas.values import JsonValue

Path: TypeAlias = tuple[str | int, ...]
"""Keys and list indexes from the root of one document to a value."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file, both counted from 1, as editors show them. `column` counts characters."""

    line: int
    column: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Something the reader refuses. `expected` and `found` complete "expected …, got …"."""

    spot: Spot
    expected: str
    found: str
    hint: str = ""
    path: Path = ()


@dataclass(kw_only=True, slots=True)
class Positions:
    """Where every key and every value of one document stands, and how its numbers were written."""

    keys: dict[Path, Spot] = field(default_factory=dict[Path, Spot])
    values: dict[Path, Spot] = field(default_factory=dict[Path, Spot])
    numbers: dict[Path, str] = field(default_factory=dict[Path, str])

    def value(self, path: Path) -> Spot:
        """The place of a value, or of the nearest thing around it that exists."""
        return self._nearest(self.values, path)

    def key(self, path: Path) -> Spot:
        """The place of a key (of a list item: of its value), or of the nearest thing around it."""
        return self.keys.get(path) or self._nearest(self.values, path)

    def _nearest(self, where: dict[Path, Spot], path: Path) -> Spot:
        for length in range(len(path), -1, -1):
            if spot := where.get(path[:length]):
                return spot
        return Spot(1, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class RawDocument:
    """One document as plain JSON. `positions` is None where nobody asked for them.

    `has_null`: somewhere in it a value is missing (`requests:` with nothing behind it, or an explicit null).
    """

    value: JsonValue
    spot: Spot
    has_null: bool
    positions: Positions | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """All documents of one file that could be read, in order, and everything that was refused."""

    documents: tuple[RawDocument, ...] = ()
    faults: tuple[Fault, ...] = ()
