"""A patch on one document of a file: only the lines that it means change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from reconciler.edits import checks, patching, pieces
from reconciler.edits.blocks import Splicer
from reconciler.edits.patching import PatchRefused
from reconciler.edits.pieces import Piece
from reconciler.edits.problems import EditRefused
from reconciler.edits.source import Source
from reconciler.edits.splices import Overlap, Result, spliced
from reconciler.edits.writing import CannotWrite, Unclean
from schemas.reading.outline import Outlined
from schemas.reading.records import Spot
from schemas.values import JsonObject, JsonValue

_LONGEST: Final = 200


def apply(text: bytes, target: int, patch: Sequence[JsonObject], *, path: str) -> bytes:
    """The file with an RFC 6902 patch applied to document number `target` (from 0; documents without a value do not
    count). `path` names the file in errors; its ending says whether it is YAML or JSON. Raises EditRefused."""
    source = Source(path, text)
    document = chosen(source, target)
    checks.values_of(patch, path, source.spot(document.root.start))
    try:
        wanted = patching.patched(source.values[target], patch)
    except PatchRefused as error:
        spot, expected = source.spot(document.root.start), "a patch that fits the document"
        raise EditRefused(
            path, spot, expected=expected, found=f"operation {error.step}: {str(error)[:_LONGEST]}"
        ) from error
    return written(source, target, wanted, lambda: patching.follow(pieces.here(document.root, source), patch))


def chosen(source: Source, target: int) -> Outlined:
    """Document number `target`. Raises EditRefused."""
    count = len(source.documents)
    if not 0 <= target < count:
        expected, found = f"document number {target}", f"{count} document{'' if count == 1 else 's'}"
        raise EditRefused(source.path, Spot(1, 1), expected=expected, found=found, hint="they count from 0")
    return source.documents[target]


def written(
    source: Source,
    target: int,
    wanted: JsonValue,
    tree: Callable[[], Piece],
    *,
    also: Counter[str] | None = None,
) -> bytes:
    """The file in which document number `target` is what a tree says. `wanted`: the same as plain data; `also`: the
    comments that may come with it.

    What moved is taken over as it was written; where that does not read as it should, it is written anew."""
    refused: EditRefused | None = None
    for carry in (True, False):
        try:
            result = _result(source, target, tree(), carry=carry)
            data = source.bom + result.text.encode("utf-8")
            values = [wanted if number == target else value for number, value in enumerate(source.values)]
            checks.outcome(source, data, result, values, at=source.documents[target].root.start, also=also)
            checks.inside(source, target, result)
        except EditRefused as error:
            refused = refused or error
        else:
            return data
    assert refused is not None
    raise refused


def _result(source: Source, target: int, piece: Piece, *, carry: bool) -> Result:
    document = source.documents[target]
    splicer = Splicer(source, carry=carry)
    hint = "edit the file by hand"
    try:
        splicer.root(piece, document.root)
        result = spliced(source.text, splicer.splices)
    except Unclean as error:
        spot = source.spot(error.at)
        found, hint = str(error), error.hint or hint
        raise EditRefused(source.path, spot, expected="text that can be edited", found=found, hint=hint) from error
    except CannotWrite as error:
        spot, hint = source.spot(document.root.start), error.hint or hint
        raise EditRefused(
            source.path, spot, expected="what can be written here", found=str(error), hint=hint
        ) from error
    except Overlap as error:
        spot = source.spot(document.root.start)
        raise EditRefused(
            source.path, spot, expected="changes of lines of their own", found="changes that overlap", hint=hint
        ) from error
    return ended_like(source, result)


def ended_like(source: Source, result: Result) -> Result:
    """A file without a final line break gets none."""
    text = result.text
    if source.text and not source.text.endswith("\n") and text.endswith("\n"):
        text = text[: -2 if text.endswith("\r\n") else -1]
    return Result(text, result.removed, result.added)
