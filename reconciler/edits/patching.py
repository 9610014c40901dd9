"""RFC 6902: what a patch makes of a value, and the same steps on the tree that remembers its text.

What is right and what the outcome is says jsonpatch, on plain data; the tree follows it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import jsonpatch
import jsonpointer

from reconciler.edits import pieces
from reconciler.edits.pieces import Piece, Slot
from reconciler.edits.replacing import replaced
from schemas.values import JsonObject, JsonValue

_ERRORS: Final[Any] = (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError, ValueError)

OPERATIONS: Final = ("add", "remove", "replace", "move", "copy", "test")


_MOST_COPIED: Final = 20_000  # values; each copy may hold all before it, so a few lines could mean billions


class PatchRefused(ValueError):
    """The patch is none, or does not fit. `step`: which of its operations, from 0."""

    def __init__(self, message: str, step: int) -> None:
        super().__init__(message)
        self.step = step


def patched(value: JsonValue, patch: Sequence[JsonObject]) -> JsonValue:
    """What jsonpatch makes of a value; that one stays as it is. Raises PatchRefused."""
    for step, operation in enumerate(patch):
        given: Any = operation
        if not isinstance(given, Mapping) or cast("JsonObject", given).get("op") not in OPERATIONS:
            raise PatchRefused(f"its op is none of {', '.join(OPERATIONS)}", step)
    made: JsonValue = copy.deepcopy(value)
    left = _MOST_COPIED
    for step, operation in enumerate(patch):
        try:
            if operation["op"] == "copy":
                left = _after_copy(made, operation, left)
            made = cast("Any", jsonpatch).apply_patch(made, [copy.deepcopy(dict(operation))], in_place=True)
        except _ERRORS as error:
            raise PatchRefused(str(error), step) from error
    return made


def _after_copy(value: JsonValue, operation: JsonObject, left: int) -> int:
    """How many values may still be copied behind this operation. Raises ValueError."""
    pointer = operation.get("from")
    open_: list[Any] = [jsonpointer.resolve_pointer(value, pointer)] if isinstance(pointer, str) else []
    while open_:
        left -= 1
        if left < 0:
            raise ValueError(f"the copies of a patch hold at most {_MOST_COPIED} values together")
        each = open_.pop()
        open_ += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
    return left


def follow(root: Piece, patch: Sequence[JsonObject]) -> Piece:
    """The steps of a patch that fits, on the tree. Changes it and returns its root."""
    for operation in patch:
        root = _step(root, operation)
    return root


def parts(pointer: str) -> list[str]:
    """The steps of a JSON pointer."""
    return [str(part) for part in jsonpointer.JsonPointer(pointer).parts]


def _step(root: Piece, operation: JsonObject) -> Piece:
    verb, path = operation["op"], parts(operation["path"])
    match verb:
        case "add":
            return _add(root, path, Slot(None, pieces.new(operation["value"])), fresh=operation["value"])
        case "replace":
            if not path:
                return replaced(root, operation["value"])
            slot = _slot(root, path)
            slot.piece = replaced(slot.piece, operation["value"])
        case "remove":
            _take(root, path)
        case "copy":
            value = _at(root, parts(operation["from"])).data()
            return _add(root, path, Slot(None, pieces.new(value)), fresh=value)
        case "move":
            return _move(root, parts(operation["from"]), path)
        case _:
            pass  # a test changes nothing
    return root


def _move(root: Piece, origin: list[str], path: list[str]) -> Piece:
    if origin == path:
        return root
    holder = _at(root, origin[:-1])
    if path and holder.is_mapping and origin[:-1] == path[:-1] and holder.find(path[-1]) is None:
        _slot(root, origin).key = path[-1]  # another name in the same place
        return root
    taken = _take(root, origin)
    return _add(root, path, taken, fresh=taken.piece.data())


def _add(root: Piece, path: list[str], slot: Slot, *, fresh: JsonValue) -> Piece:
    """`fresh`: the value of a slot that comes from no text, which may then share text with what it replaces."""
    if not path:
        return replaced(root, fresh) if slot.origin is None else slot.piece
    holder = _at(root, path[:-1])
    if not holder.is_mapping:
        slot.key = None
        holder.slots.insert(len(holder.slots) if path[-1] == "-" else int(path[-1]), slot)
        return root
    there = holder.find(path[-1])
    if there is None:
        slot.key = path[-1]
        holder.slots.append(slot)
    else:
        there.piece = replaced(there.piece, fresh) if slot.origin is None else slot.piece
    return root


def _take(root: Piece, path: list[str]) -> Slot:
    slot = _slot(root, path)
    _at(root, path[:-1]).slots.remove(slot)
    return slot


def _at(root: Piece, path: list[str]) -> Piece:
    for length in range(1, len(path) + 1):
        root = _member(root, path[length - 1]).piece
    return root


def _slot(root: Piece, path: list[str]) -> Slot:
    return _member(_at(root, path[:-1]), path[-1])


def _member(holder: Piece, part: str) -> Slot:
    slot = holder.find(part) if holder.is_mapping else holder.slots[int(part)]
    assert slot is not None
    return slot
