"""Whole documents of a file: one more, one less, and files that begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, cast

from reconciler.edits import checks, pieces
from reconciler.edits.apply import chosen, ended_like
from reconciler.edits.problems import EditRefused
from reconciler.edits.source import Habits, Source, is_nothing
from reconciler.edits.splices import Splice, spliced
from reconciler.edits.writing import BlockWriter, CannotWrite, flow_lines
from schemas.reading.outline import Form
from schemas.reading.read import JSON_SUFFIXES
from schemas.reading.records import Spot
from schemas.values import JsonObject

_HOUSE: Final = Habits(newline="\n", step=2, list_step=2, quote=Form.DOUBLE)
_FIRST: Final = ("apiVersion", "kind", "metadata", "spec")
_START: Final = Spot(1, 1)


def locate(text: bytes, kind: str, name: str, *, path: str) -> int | None:
    """The number of a document by its identity; None where the file does not hold it. Raises EditRefused."""
    for number, value in enumerate(Source(path, text).values):
        if identity(value) == (kind, name):
            return number
    return None


def identity(document: Any) -> tuple[str, str] | None:
    """Kind and name, of what has both."""
    if not isinstance(document, dict):
        return None
    fields = cast("JsonObject", document)
    kind, metadata = fields.get("kind"), fields.get("metadata")
    name: Any = cast("JsonObject", metadata).get("name") if isinstance(metadata, dict) else None
    return (kind, name) if isinstance(kind, str) and isinstance(name, str) else None


def append(text: bytes, document: JsonObject, *, path: str) -> bytes:
    """The file with one more document at its end. All that was there stays. Raises EditRefused."""
    source = Source(path, text)
    checks.value(document, path, _START)
    if source.is_json:
        if source.documents:
            hint = "put the other into a file of its own"
            raise EditRefused(path, _START, expected="one document in a JSON file", found="another one", hint=hint)
        return source.bom + new_file([document], path=path)
    return appended(source, _lines(document, source.habits, path), document)


def appended(source: Source, lines: Sequence[str], document: JsonObject, *, also: Counter[str] | None = None) -> bytes:
    """The file with the lines of one more document, which is `document` as data; `also`: comments that may be in it."""
    newline = source.habits.newline
    text = source.text + (newline if source.text and not source.text.endswith("\n") else "")
    last = source.all_documents[-1] if source.all_documents else None
    waiting = last is not None and is_nothing(last.root) and last.root.start == last.root.end and last.closed is None
    if last is not None and not waiting:
        text += "---" + newline
    text += "".join(line + newline for line in lines)
    added = text[len(source.text) :]
    result = ended_like(source, spliced(source.text, [Splice(len(source.text), len(source.text), added)]))
    data = source.bom + result.text.encode("utf-8")
    checks.outcome(source, data, result, [*source.values, document], also=also)
    return data


def remove(text: bytes, target: int, *, path: str) -> bytes | None:
    """The file without document number `target`, its comments and its `---`; None if it was the only one: then the
    file goes. What stands at the head of a file, above its first document, stays. Raises EditRefused."""
    source = Source(path, text)
    document = chosen(source, target)
    if len(source.documents) == 1:
        return None
    place = source.all_documents.index(document)
    later = source.all_documents[place + 1 :]
    start = source.line_start(document.start)
    end = source.line_start(later[0].start) if later else len(source.text)
    if not later:
        start = source.without_blanks(start, source.all_documents[place - 1].root.end)
    result = ended_like(source, spliced(source.text, [Splice(start, end, "")]))
    data = source.bom + result.text.encode("utf-8")
    checks.outcome(source, data, result, [value for number, value in enumerate(source.values) if number != target])
    return data


def new_file(documents: Sequence[JsonObject], *, path: str) -> bytes:
    """A file of these documents, in the manner of this house. Raises EditRefused."""
    for document in documents:
        checks.value(document, path, _START)
    if path.lower().endswith(JSON_SUFFIXES):
        if len(documents) != 1:
            raise EditRefused(path, _START, expected="one document in a JSON file", found=f"{len(documents)}")
        piece = pieces.new(ordered(documents[0]))
        text = flow_lines(piece, "", "  ", quote=Form.DOUBLE, json=True, newline="\n") + "\n"
    else:
        text = "---\n".join("\n".join(_lines(document, _HOUSE, path)) + "\n" for document in documents)
    data = text.encode("utf-8")
    checks.reads_as(path, data, list(documents))
    return data


def ordered(document: JsonObject) -> JsonObject:
    """A document with its envelope in the usual order."""
    return {key: document[key] for key in sorted(document, key=lambda key: _FIRST.index(key) if key in _FIRST else 9)}


def _lines(document: JsonObject, habits: Habits, path: str) -> list[str]:
    try:
        if not document:
            return ["{}"]
        return BlockWriter(habits, carry=False).entries(pieces.new(ordered(document)).slots, 0)
    except CannotWrite as error:
        raise EditRefused(path, _START, expected="what can be written", found=str(error), hint=error.hint) from error
