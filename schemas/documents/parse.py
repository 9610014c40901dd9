"""One file to its documents: read it, check each document by itself, and say everything that is wrong."""

from __future__ import annotations

from typing import Any, cast

from pydantic import ValidationError

from schemas.documents import explain
from schemas.documents.kinds import ALSO_KNOWN, KINDS, AnyDocument
from schemas.documents.problems import Problem, problem, shown_value
from schemas.documents.records import Document, ParsedFile
from schemas.documents.shapes import API_VERSION
from schemas.reading import read
from schemas.reading.records import Path, Positions, RawDocument, Reading, Spot
from schemas.secrets import find_secrets
from schemas.values import JsonObject, JsonValue


def parse_file(path: str, data: bytes) -> ParsedFile:
    """Look at one file by itself. Never raises."""
    if not read.is_document_file(path):
        return ParsedFile(path=path, data=data)
    reading = read.read(path, data)
    accepted = [_accept(path, raw) for raw in reading.documents]
    secrets = find_secrets(data.decode("utf-8", "replace"))
    if not reading.faults and not secrets and None not in accepted:
        return ParsedFile(path=path, data=data, documents=tuple(item for item in accepted if item is not None))
    problems = _problems(path, data)
    return ParsedFile(path=path, data=data, documents=tuple(filter(None, accepted)), problems=problems)


def spot_of(parsed: ParsedFile, document: Document, field: Path) -> Spot:
    """Where a field of a document stands; reads the file again, so it is for errors only."""
    for raw in read.read(parsed.path, parsed.data, positions=True).documents:
        if raw.spot.line == document.line and raw.positions:
            return raw.positions.value(field)
    return Spot(document.line, 1)


def _accept(path: str, raw: RawDocument) -> Document | None:
    """The document, if nothing is wrong with it. The way that almost all documents take."""
    value: Any = raw.value
    if not isinstance(value, dict):
        return None
    kind: Any = cast("dict[str, Any]", value).get("kind")
    shape = KINDS.get(kind) if isinstance(kind, str) else None
    if shape is None:
        return None
    try:
        model = shape.model_validate(value)
    except ValidationError:
        return None
    return Document(
        kind=model.kind,
        name=model.metadata.name,
        model=model,
        authored=_authored(model, cast("JsonValue", value["spec"]), raw.has_null),
        path=path,
        line=raw.spot.line,
    )


def _authored(model: AnyDocument, written: JsonValue, has_null: bool) -> JsonObject:
    if not has_null:
        return cast("JsonObject", written)
    return model.spec.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _problems(path: str, data: bytes) -> tuple[Problem, ...]:
    """Everything that is wrong, with places. What the reader or the secret detector said is not said again."""
    reading = read.read(path, data, positions=True)
    found = [
        problem(path, fault.spot, fault.path, expected=fault.expected, found=fault.found, hint=fault.hint)
        for fault in reading.faults
    ]
    found.extend(_secrets(path, data, reading))
    said = {(item.line, item.field) for item in found}
    for raw in reading.documents:
        found.extend(item for item in _document_problems(path, raw) if (item.line, item.field) not in said)
    return tuple(sorted(found, key=lambda item: (item.line, item.column)))


def _secrets(path: str, data: bytes, reading: Reading) -> list[Problem]:
    return [
        problem(
            path,
            Spot(secret.line, secret.column),
            _field_at(reading, Spot(secret.line, secret.column)),
            expected="no secret in git",
            found=f"what looks like one ({secret.kind}): {secret.masked}",
            hint="name a Secret or a parameter instead; if it was pushed, revoke it",
        )
        for secret in find_secrets(data.decode("utf-8", "replace"))
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
    try:
        shape.model_validate(envelope)
    except ValidationError as error:
        return explain.problems_of(shape, raw, error, path)
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
