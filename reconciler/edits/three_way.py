"""Three states of one document made into one, field by field.

Mappings are gone into; lists whose items have names (`unique_by` in the schema) are mappings by those names; any
other list, and every scalar, is one value. Equal changes on both sides are no clash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias, cast

import jsonpointer

from reconciler.edits.equality import same
from schemas.documents import fields, walk
from schemas.documents.kinds import KINDS
from schemas.reading.records import Path
from schemas.values import JsonObject, JsonValue, canonical


class Absent(Enum):
    """There is no value, which is not the same as null."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
MaybeValue: TypeAlias = JsonValue | Absent


@dataclass(frozen=True, kw_only=True)
class Clash:
    """A field that both changed, to different values. `pointer`: in theirs, else in ours, else in the base."""

    pointer: str
    base: MaybeValue
    ours: MaybeValue
    theirs: MaybeValue


class ThreeWay:
    """Merges the three states of one document of a kind; `clashes` has what could not be merged."""

    def __init__(self, kind: str) -> None:
        self._shape = KINDS.get(kind)
        self.clashes: list[Clash] = []

    def whole(self, base: MaybeValue, ours: MaybeValue, theirs: MaybeValue) -> MaybeValue:
        """The same for a document that one of the three has not: it is one value."""
        if _equal(ours, theirs) or _equal(ours, base):
            return theirs
        if _equal(theirs, base):
            return ours
        self.clashes.append(Clash(pointer="", base=base, ours=ours, theirs=theirs))
        return theirs

    def merged(self, base: MaybeValue, ours: MaybeValue, theirs: MaybeValue, path: Path = ()) -> MaybeValue:
        """`theirs` with what `ours` changed. Where both changed a field, it stays theirs and is a clash."""
        if _equal(ours, theirs) or _equal(ours, base):
            return theirs
        if _equal(theirs, base):
            return ours
        if _is_mapping(ours) and _is_mapping(theirs) and (base is ABSENT or _is_mapping(base)):
            return self._mappings({} if base is ABSENT else base, cast("Any", ours), cast("Any", theirs), path)
        if _is_list(ours) and _is_list(theirs) and (base is ABSENT or _is_list(base)):
            names = self._unique_by(path)
            lists = [_named(value, names) for value in (cast("Any", [] if base is ABSENT else base), ours, theirs)]
            if names is not None and all(named is not None for named in lists):
                return self._lists(cast("Any", lists[0]), cast("Any", lists[1]), cast("Any", lists[2]), path)
        self.clashes.append(Clash(pointer=pointer(path), base=base, ours=ours, theirs=theirs))
        return theirs

    def _mappings(self, base: JsonObject, ours: JsonObject, theirs: JsonObject, path: Path) -> JsonObject:
        found: JsonObject = {}
        for key in [*theirs, *(key for key in [*ours, *base] if key not in theirs)]:
            if key in found:
                continue
            was, mine, yours = (side.get(key, ABSENT) for side in (base, ours, theirs))
            value = self.merged(was, mine, yours, (*path, key))
            if value is not ABSENT:
                found[key] = value
        return found

    def _lists(self, base: JsonObject, ours: JsonObject, theirs: JsonObject, path: Path) -> list[Any]:
        """Their order; what only ours has stands behind what it stands behind there."""
        merged: JsonObject = {}
        for name in dict.fromkeys([*theirs, *ours, *base]):
            place = next(list(side).index(name) for side in (theirs, ours, base) if name in side)
            was, mine, yours = (side.get(name, ABSENT) for side in (base, ours, theirs))
            value = self.merged(was, mine, yours, (*path, place))
            if value is not ABSENT:
                merged[name] = value
        order = [name for name in theirs if name in merged]
        before: str | None = None
        for name in ours:
            if name in merged and name not in theirs:
                order.insert(order.index(before) + 1 if before in order else 0 if before is None else len(order), name)
            before = name if name in order else before
        return [merged[name] for name in order]

    def _unique_by(self, path: Path) -> tuple[str, ...] | None:
        return unique_by(self._shape, path)


def unique_by(shape: Any, path: Path) -> tuple[str, ...] | None:
    """What names the items of the list at a place in documents of a kind; None where nothing does."""
    field = walk.field_at(shape, path) if shape is not None else None
    said = fields.said_of(field.json_schema_extra) if field is not None else None
    return said.unique_by if said is not None else None


def pointer(path: Path) -> str:
    """The JSON pointer of a place."""
    return "".join(f"/{jsonpointer.escape(str(step))}" for step in path)


def _named(value: Any, names: Sequence[str] | None) -> JsonObject | None:
    """The items of a list by their names; None if one has none, or two have the same."""
    if names is None:
        return None
    found: JsonObject = {}
    for item in value:
        fields_of: Any = cast("JsonObject", item) if isinstance(item, dict) else None
        if names and fields_of is None:
            return None
        name = canonical([fields_of.get(field) for field in names] if names else item)
        if name in found:
            return None
        found[name] = item
    return found


def _equal(one: MaybeValue, other: MaybeValue) -> bool:
    if one is ABSENT or other is ABSENT:
        return one is other
    return same(one, other)


def _is_mapping(value: MaybeValue) -> bool:
    return isinstance(value, dict)


def _is_list(value: MaybeValue) -> bool:
    return isinstance(value, list)
