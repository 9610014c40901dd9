"""One file to its documents: read it, check each document by itself, and say everything that is wrong."""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterable
from typing import Any, cast

from pydantic import ValidationError

from schemas.documents import explain, walk
from schemas.documents.kinds import ALSO_KNOWN, KINDS
from schemas.documents.problems import Problem, problem, shown_value
from schemas.documents.records import Document, ParsedFile, SourceFile
from schemas.documents.shapes import API_VERSION
from schemas.reading import read
from schemas.reading.raw_text import MAX_BYTES
from schemas.reading.records import Path, Positions, RawDocument, Reading, Spot
from schemas.secrets import Finding, find_secrets
from schemas.values import JsonObject


def parse_file(path: str, data: bytes) -> ParsedFile:
    """Look at one file by itself. Never raises."""
    return _checked(path, data, *_scanned(path, data))


def parse_files(files: Iterable[SourceFile]) -> list[ParsedFile]:
    """Parse many files, as at a cold start; the same as `parse_file` for each, but faster.

    First all are read, then all are checked: alternating between two large libraries costs a tenth. Meanwhile the
    cyclic garbage collector rests: what is made here stays, nothing refers to itself, and it would only look.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        scanned = [(file, _scanned(file.path, file.data)) for file in files]
        return [_checked(file.path, file.data, *result) for file, result in scanned]
    finally:
        if collecting:
            gc.enable()


def _scanned(path: str, data: bytes) -> tuple[Reading | None, list[Finding]]:
    """The reading of a file that holds documents, and what looks like a secret in any file."""
    secrets = find_secrets(data.decode("utf-8", "replace")) if len(data) <= MAX_BYTES else []
    return (read.read(path, data) if read.is_document_file(path) else None), secrets


def _checked(path: str, data: bytes, reading: Reading | None, secrets: list[Finding]) -> ParsedFile:
    if reading is None:
        # In a script a name is not enough: TOKEN=$(…) is everyday.
        told = [secret for secret in secrets if not secret.by_name]
        return ParsedFile(path=path, data=data, problems=tuple(_secrets(path, told, Reading())))
    accepted = [_accept(path, raw) for raw in reading.documents]
    documents = tuple([document for document in accepted if document is not None])
    if not reading.faults and not secrets and len(documents) == len(accepted):
        return ParsedFile(path=path, data=data, documents=documents)
    return ParsedFile(
        path=path,
        data=data,
        documents=documents,
        problems=_problems(path, data, secrets),
        refused=_refused(reading, accepted),
    )


def spot_of(parsed: ParsedFile, document: Document, field: Path) -> Spot:
    """Where a field of a document stands. Reads the file again, so it is for errors only."""
    positions = _positions_by_line(parsed.path, parsed.data).get(document.line)
    return positions.value(field) if positions else Spot(document.line, 1)


@functools.lru_cache(maxsize=8)  # one file may have thousands of errors
def _positions_by_line(path: str, data: bytes) -> dict[int, Positions]:
    documents = read.read(path, data, positions=True).documents
    return {raw.spot.line: raw.positions for raw in documents if raw.positions}


def _accept(path: str, raw: RawDocument) -> Document | None:
    """The document, if nothing is wrong with it. The way that almost all documents take."""
    value: Any = raw.value
    if not isinstance(value, dict):
        return None
    kind: Any = cast("dict[str, Any]", value).get("kind")
    shape = KINDS.get(kind) if isinstance(kind, str) else None
    if shape is None:
        return None
    if raw.has_null:
        value = walk.without_nulls(shape, value)
    try:
        model = shape.model_validate(value)
    except ValidationError:
        return None
    return Document(
        kind=model.kind,
        name=model.metadata.name,
        model=model,
        authored=cast("JsonObject", value["spec"]),
        path=path,
        line=raw.spot.line,
    )


def _refused(reading: Reading, accepted: list[Document | None]) -> frozenset[str]:
    kinds: set[str] = {""} if any(not fault.path for fault in reading.faults) else set()
    for raw, document in zip(reading.documents, accepted, strict=True):
        if document is None:
            value: Any = raw.value
            kind: Any = cast("dict[str, Any]", value).get("kind") if isinstance(value, dict) else None
            kinds.add(kind if isinstance(kind, str) and kind in KINDS else "")
    return frozenset(kinds)


def _problems(path: str, data: bytes, secrets: list[Finding]) -> tuple[Problem, ...]:
    """Everything that is wrong, with places. What the reader or the secret detector said is not said again."""
    reading = read.read(path, data, positions=True)
    found = [
        problem(path, fault.spot, fault.path, expected=fault.expected, found=fault.found, hint=fault.hint)
        for fault in reading.faults
    ]
    found.extend(_secrets(path, secrets, reading))
    said = {(item.line, item.field) for item in found}
    for raw in reading.documents:
        found.extend(item for item in _document_problems(path, raw) if (item.line, item.field) not in said)
    return tuple(sorted(found, key=lambda item: (item.line, item.column)))


def _secrets(path: str, secrets: list[Finding], reading: Reading) -> list[Problem]:
    return [
        problem(
            path,
            Spot(secret.line, secret.column),
            _field_at(reading, Spot(secret.line, secret.column)),
            expected="no secret in git",
            found=f"what looks like one ({secret.kind}): {secret.masked}",
            hint="name a Secret or a parameter instead; if it was pushed, revoke it",
        )
        for secret in secrets
    ]


def _field_at(reading: Reading, place: Spot) -> Path:
    """The field whose value stands at a place, or before it in the same line."""
    for raw in reading.documents:
        values = raw.positions.values if raw.positions else {}
        here = [path for path, at in values.items() if at.line == place.line and at.column <= place.column]
        if here:
            return here[-1]
    return ()


def _document_problems(path: str, raw: RawDocument) -> list[Problem]:
    positions = raw.positions or Positions()
    value: Any = raw.value
    if not isinstance(value, dict):
        expected = f"a mapping with apiVersion: {API_VERSION} and a kind"
        return [problem(path, raw.spot, (), expected=expected, found=shown_value(value))]
    envelope = cast("dict[str, Any]", value)
    version, kind = envelope.get("apiVersion"), envelope.get("kind")
    if version is not None and version != API_VERSION:
        hint = "" if str(version).startswith("instantstart") else "objects of Kubernetes itself do not belong here"
        spot = positions.value(("apiVersion",))
        found = shown_value(version)
        return [problem(path, spot, ("apiVersion",), expected=API_VERSION, found=found, hint=hint)]
    shape = KINDS.get(kind) if isinstance(kind, str) else None
    if shape is None:
        return [_unknown_kind(path, kind, positions)]
    given = walk.without_nulls(shape, envelope)
    try:
        shape.model_validate(given)
    except ValidationError as error:
        return explain.problems_of(shape, given, error, positions, path)
    return []


def _unknown_kind(path: str, kind: object, positions: Positions) -> Problem:
    meant = explain.nearest(kind, KINDS, ALSO_KNOWN) if isinstance(kind, str) and kind else None
    return problem(
        path,
        positions.value(("kind",)),
        ("kind",),
        expected=f"one of {', '.join(KINDS)}",
        found=shown_value(kind),
        hint=f"did you mean {meant}?" if meant else "this version serves no other kind" if kind else "",
    )
