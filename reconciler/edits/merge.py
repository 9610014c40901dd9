"""Two edits of one file made into one: the text of theirs, with what ours changed in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from reconciler.edits import pieces
from reconciler.edits.apply import written
from reconciler.edits.differences import by_identity
from reconciler.edits.files import appended, remove
from reconciler.edits.problems import EditConflict
from reconciler.edits.replacing import replaced
from reconciler.edits.source import Source
from reconciler.edits.three_way import ABSENT, Clash, MaybeValue, ThreeWay
from schemas.errors import FieldConflict
from schemas.reading.read import is_document_file
from schemas.values import JsonObject

Identity: TypeAlias = tuple[str, str]
_State: TypeAlias = Mapping[Identity, JsonObject]


def merge(base: bytes | None, ours: bytes | None, theirs: bytes | None, *, path: str) -> bytes | None:
    """The file with both changes, None if it is gone. Each argument: the file's bytes, None where there is none.

    Documents are the same by kind and name; of documents that both changed, fields are merged. Raises EditConflict
    with every field that both changed differently, EditRefused where a text cannot be read or edited.
    """
    if ours in (theirs, base):
        return theirs
    if theirs == base:
        return ours
    if not is_document_file(path):
        raise EditConflict([FieldConflict(path=path, document="", field="")])
    sources = [Source(path, text or b"") for text in (base, ours, theirs)]
    states: list[_State] = [by_identity(source) for source in sources]
    merged = _merged(path, *states)
    return _written(sources[2], states[2], sources[1], merged, path)


def _merged(path: str, base: _State, ours: _State, theirs: _State) -> dict[Identity, MaybeValue]:
    """Every document of the three as it is to be. Raises EditConflict."""
    found: dict[Identity, MaybeValue] = {}
    conflicts: list[FieldConflict] = []
    for identity in dict.fromkeys([*theirs, *ours, *base]):
        sides = [state.get(identity, ABSENT) for state in (base, ours, theirs)]
        three = ThreeWay(identity[0])
        if any(side is ABSENT for side in sides):
            found[identity] = three.whole(sides[0], sides[1], sides[2])
        else:
            found[identity] = three.merged(sides[0], sides[1], sides[2])
        conflicts += [_conflict(path, identity, clash) for clash in three.clashes]
    if conflicts:
        raise EditConflict(conflicts)
    return found


def _conflict(path: str, identity: Identity, clash: Clash) -> FieldConflict:
    base, ours, theirs = (None if side is ABSENT else side for side in (clash.base, clash.ours, clash.theirs))
    return FieldConflict(
        path=path, document="/".join(identity), field=clash.pointer, base=base, yours=ours, theirs=theirs
    )


def _written(
    theirs: Source, state: _State, ours: Source, merged: Mapping[Identity, MaybeValue], path: str
) -> bytes | None:
    """The text of theirs made to say `merged`."""
    data: bytes | None = theirs.bom + theirs.text.encode("utf-8")
    current = theirs
    for number, identity in enumerate(state):
        wanted = merged[identity]
        if wanted is not ABSENT and wanted != state[identity]:
            data = _changed(current, number, wanted)
            current = Source(path, data)
    for number, identity in reversed(list(enumerate(state))):
        if merged[identity] is ABSENT and data is not None:
            data = remove(data, number, path=path)
    for number, (identity, document) in enumerate(by_identity(ours).items()):
        if identity not in state and merged[identity] is not ABSENT:
            data = appended(Source(path, data or b""), ours.lines_of(number), document)
    return data


def _changed(source: Source, number: int, wanted: JsonObject) -> bytes:
    root = source.documents[number].root
    return written(source, number, wanted, lambda: replaced(pieces.here(root, source), wanted))
