"""Two edits of one file made into one: the text of theirs, with what ours changed in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

from reconciler.edits import lines, pieces
from reconciler.edits.apply import written
from reconciler.edits.differences import by_identity
from reconciler.edits.equality import same
from reconciler.edits.files import appended, remove
from reconciler.edits.problems import EditConflict, EditRefused
from reconciler.edits.replacing import replaced
from reconciler.edits.source import Source
from reconciler.edits.three_way import ABSENT, Clash, MaybeValue, ThreeWay
from schemas.errors import FieldConflict
from schemas.reading.read import is_document_file
from schemas.values import JsonObject

Identity: TypeAlias = tuple[str, str]
_State: TypeAlias = Mapping[Identity, JsonObject]
_Wanted: TypeAlias = Mapping[Identity, MaybeValue]


def merge(base: bytes | None, ours: bytes | None, theirs: bytes | None, *, path: str) -> bytes | None:
    """The file with both changes, None if it is gone. Each argument: the file's bytes, None where there is none.

    Documents are the same by kind and name; of documents that both changed, fields are merged. Where the changed lines
    of both do not touch, comments of both stay; else the text is theirs, with our fields in it. Raises EditConflict
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
    wanted = _merged(path, *states)
    was, mine, yours = sources
    if (data := _by_lines(was, mine, yours, wanted)) is not None:
        return data
    data = _written(yours, states[2], mine, states[1], wanted)
    _kept(was, mine, data)
    return data


def _merged(path: str, base: _State, ours: _State, theirs: _State) -> _Wanted:
    """Every document of the three as it is to be. Raises EditConflict."""
    found: dict[Identity, MaybeValue] = {}
    conflicts: list[FieldConflict] = []
    for identity in dict.fromkeys([*theirs, *ours, *base]):
        was, mine, yours = (state.get(identity, ABSENT) for state in (base, ours, theirs))
        three = ThreeWay(identity[0])
        whole = ABSENT in (was, mine, yours)
        found[identity] = three.whole(was, mine, yours) if whole else three.merged(was, mine, yours)
        conflicts += [_conflict(path, identity, clash) for clash in three.clashes]
    if conflicts:
        raise EditConflict(conflicts)
    return found


def _conflict(path: str, identity: Identity, clash: Clash) -> FieldConflict:
    base, ours, theirs = (None if side is ABSENT else side for side in (clash.base, clash.ours, clash.theirs))
    document = "/".join(identity)
    return FieldConflict(path=path, document=document, field=clash.pointer, base=base, yours=ours, theirs=theirs)


def _by_lines(base: Source, ours: Source, theirs: Source, wanted: _Wanted) -> bytes | None:
    """Both changes of the text, where that says what is wanted: so comments that either wrote are in it."""
    texts = [source.text.splitlines(keepends=True) for source in (base, ours, theirs)]
    found = lines.merged(*texts)
    if not found:
        return None
    data = theirs.bom + "".join(found).encode("utf-8")
    try:
        state = by_identity(Source(theirs.path, data))
    except EditRefused:
        return None
    present = {identity: value for identity, value in wanted.items() if value is not ABSENT}
    return data if same(_keyed(state), _keyed(present)) else None


def _keyed(state: _Wanted) -> JsonObject:
    return {"/".join(identity): value for identity, value in state.items()}


def _written(theirs: Source, state: _State, ours: Source, mine: _State, wanted: _Wanted) -> bytes | None:
    """The text of theirs made to say what is wanted."""
    data: bytes | None = theirs.bom + theirs.text.encode("utf-8")
    current = theirs
    numbers = {identity: number for number, identity in enumerate(mine)}
    for number, identity in enumerate(state):
        value = wanted[identity]
        if value is not ABSENT and not same(value, state[identity]):
            data = _changed(current, number, value, ours, numbers.get(identity))
            current = Source(theirs.path, data)
    for number, identity in reversed(list(enumerate(state))):
        if wanted[identity] is ABSENT and data is not None:
            data = remove(data, number, path=theirs.path)
    for identity, document in mine.items():
        if identity not in state and wanted[identity] is not ABSENT:
            current = Source(theirs.path, data or b"")
            data = appended(current, ours.lines_of(numbers[identity]), document, also=_comments(ours))
    return data


def _changed(source: Source, number: int, wanted: JsonObject, ours: Source, donor: int | None) -> bytes:
    """`donor`: the number of the same document in ours; what is new comes from there, with its comments."""
    root = source.documents[number].root

    def tree() -> pieces.Piece:
        given = pieces.here(ours.documents[donor].root, ours) if donor is not None else None
        return replaced(pieces.here(root, source), wanted, given)

    return written(source, number, wanted, tree, also=_comments(ours))


def _kept(base: Source, ours: Source, data: bytes | None) -> None:
    """Raises EditRefused if a comment that ours wrote is lost."""
    new = _comments(ours) - _comments(base)
    lost = new - _comments(Source(ours.path, data or b"")) if new else new
    for at, comment in ours.comments(0, len(ours.text)):
        if comment in lost:
            expected, found = "a comment whose lines nobody else changed", f"{comment}, which would be lost"
            hint = "write your change again on top of theirs"
            raise EditRefused(ours.path, ours.spot(at), expected=expected, found=found, hint=hint)


def _comments(source: Source) -> Counter[str]:
    return Counter(comment for _, comment in source.comments(0, len(source.text)))
