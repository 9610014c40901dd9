"""One value in the place of another: what both have stays where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, cast

from reconciler.edits import pieces
from reconciler.edits.equality import same
from reconciler.edits.pieces import Piece, Slot
from schemas.values import JsonObject, JsonValue, canonical

# What most often names an item of a list, the likeliest first.
_NAMES = ("name", "key", "id", "principal", "path")


def replaced(piece: Piece, value: JsonValue, donor: Piece | None = None) -> Piece:
    """`piece` with another value. Mappings are gone into by key; items of lists that are equal, or have the same name,
    or else stand in the same place between those, are the same item. `donor`: where entries that are new may be
    written already, with comments; it is changed too."""
    given: Any = value
    if same(piece.data(), given):
        return piece
    if isinstance(given, Mapping) and not piece.is_scalar and piece.is_mapping:
        _mapping(piece, cast("JsonObject", given), _entries(donor, is_mapping=True))
        return piece
    if isinstance(given, (list, tuple)) and not piece.is_scalar and not piece.is_mapping:
        _list(piece, list(cast("Sequence[Any]", given)), _entries(donor, is_mapping=False))
        return piece
    if not isinstance(given, (Mapping, list, tuple)) and piece.is_scalar and piece.node is not None:
        return Piece(node=piece.node, source=piece.source, value=given)
    return pieces.new(given)


def _entries(donor: Piece | None, *, is_mapping: bool) -> list[Slot]:
    return donor.slots if donor is not None and not donor.is_scalar and donor.is_mapping is is_mapping else []


def _mapping(piece: Piece, value: JsonObject, given: list[Slot]) -> None:
    known = {slot.key: slot for slot in given}
    old = {slot.key: slot for slot in piece.slots}
    piece.slots[:] = [slot for slot in piece.slots if slot.key in value]
    behind: Slot | None = None
    for key, inner in value.items():
        slot = old.get(key)
        if slot is not None:
            donor = known.get(key)
            slot.piece = replaced(slot.piece, inner, donor.piece if donor else None)
        else:
            slot = _given(Slot(key, pieces.new(inner)), inner, [known[key]] if key in known else [])
            piece.slots.insert(piece.slots.index(behind) + 1 if behind else len(piece.slots), slot)
        behind = slot


def _given(slot: Slot, value: JsonValue, known: list[Slot]) -> Slot:
    """A new entry as it stands elsewhere, if it does."""
    for other in known:
        if same(other.piece.data(), value):
            return Slot(slot.key, other.piece, other.origin, other.source)
    return slot


def _list(piece: Piece, value: list[Any], given: list[Slot]) -> None:
    slots = list(piece.slots)
    before, after = [canonical(slot.piece.data()) for slot in slots], [canonical(item) for item in value]
    found: list[Slot] = []
    for verb, low, high, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if verb == "equal":
            found += slots[low:high]
        else:
            found += _between(slots[low:high], value[start:end], given)
    piece.slots[:] = found


def _between(slots: list[Slot], values: list[Any], given: list[Slot]) -> list[Slot]:
    """Items that differ, between two that are equal."""
    name = _naming([slot.piece.data() for slot in slots], values)
    known = {slot.piece.data()[name]: slot for slot in slots} if name else {}
    found: list[Slot] = []
    for place, value in enumerate(values):
        slot = known.get(value[name]) if name else slots[place] if place < len(slots) else None
        if slot is None or (not name and not _alike(slot.piece, value)):
            found.append(_given(Slot(None, pieces.new(value)), value, given))
        else:
            slot.piece = replaced(slot.piece, value)
            found.append(slot)
    return found


def _naming(before: Sequence[Any], after: Sequence[Any]) -> str | None:
    """The field that names the items of both lists, if there is one."""
    for name in _NAMES:
        if all(_is_named(items, name) for items in (before, after)):
            return name
    return None


def _is_named(items: Sequence[Any], name: str) -> bool:
    names: list[Any] = [item.get(name) if isinstance(item, dict) else None for item in items]  # pyright: ignore
    return bool(names) and all(isinstance(found, str) for found in names) and len(set(names)) == len(names)


def _alike(piece: Piece, value: Any) -> bool:
    kind = "mapping" if isinstance(value, Mapping) else "list" if isinstance(value, (list, tuple)) else "scalar"
    return kind == ("scalar" if piece.is_scalar else "mapping" if piece.is_mapping else "list")
