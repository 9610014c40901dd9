"""Every edit is read again before it is handed out: it says what it should, and nothing else changed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from reconciler.edits.equality import same
from reconciler.edits.problems import EditRefused
from reconciler.edits.source import Source
from reconciler.edits.splices import Result
from schemas.reading.read import read
from schemas.reading.records import Spot
from schemas.reading.yaml_text import MAX_DEPTH
from schemas.values import JsonObject, JsonValue

_BY_HAND: Final = "edit the file by hand"
_START: Final = Spot(1, 1)
_INT64: Final = 2**63


def outcome(
    source: Source,
    data: bytes,
    result: Result,
    values: Sequence[JsonValue],
    *,
    at: int = 0,
    also: Counter[str] | None = None,
) -> None:
    """Raises EditRefused unless `data`, which is `result` as bytes, reads as `values` and lost no comment outside of
    what was taken out. `at`: the place in the old text that an error names; `also`: comments that may be new."""
    start = source.spot(at)
    reads_as(source.path, data, values, start)
    _comments(source, result, data, start, also or Counter())


def reads_as(path: str, data: bytes, values: Sequence[JsonValue], start: Spot = _START) -> None:
    """Raises EditRefused unless a file that was made here reads as it should."""
    reading = read(path, data)
    for fault in reading.faults[:1]:
        found, hint = f"{fault.found}, after the edit", fault.hint or _BY_HAND
        raise EditRefused(path, start, expected=fault.expected, found=found, hint=hint)
    got = [document.value for document in reading.documents]
    if len(got) != len(values) or not all(map(same, got, values)):
        expected, found = "an edit that changes what it should", "one that would change something else"
        hint = _BY_HAND if data.endswith(b"\n") else "end the file with a line break first"
        raise EditRefused(path, start, expected=expected, found=found, hint=hint)


def inside(source: Source, target: int, result: Result) -> None:
    """Raises EditRefused unless everything that went stood in the lines of document number `target`."""
    document = source.documents[target]
    place = source.all_documents.index(document)
    low = source.all_documents[place - 1].root.end if place else 0
    later = source.all_documents[place + 1 :]
    high = later[0].start if later else len(source.text)
    if any(begin < low or end > high for begin, end in result.removed):
        start = source.spot(document.root.start)
        expected, found = "changes inside the document", "changes around it"
        raise EditRefused(source.path, start, expected=expected, found=found, hint=_BY_HAND)


def _comments(source: Source, result: Result, data: bytes, start: Spot, also: Counter[str]) -> None:
    gone = [source.text[low:high] for low, high in result.removed]
    if "#" not in result.added and not any("#" in text for text in gone):
        return  # and what was a comment still is one, because every value is what it should be
    before, after = _counted(source), _counted(Source(source.path, data))
    removed = Counter(
        comment
        for at, comment in source.comments(0, len(source.text))
        if any(low <= at < high for low, high in result.removed)
    )
    if (before - removed) - after or after - (before + also):
        lost = next(iter((before - removed) - after), "")
        found = f"the comment {lost} lost" if lost else "a new comment"
        raise EditRefused(source.path, start, expected="comments as they were", found=found, hint=_BY_HAND)


def _counted(source: Source) -> Counter[str]:
    return Counter(comment for _, comment in source.comments(0, len(source.text)))


# What comes in -------------------------------------------------------------------------------------------------------


def values_of(patch: Iterable[JsonObject], path: str, spot: Spot) -> None:
    """Raises EditRefused unless every value of a patch can stand in a document."""
    for step, operation in enumerate(patch):
        given: Any = operation
        if isinstance(given, Mapping) and "value" in given:
            value(cast("JsonObject", given)["value"], path, spot, what=f"operation {step}: ")


def value(given: JsonValue, path: str, spot: Spot, *, what: str = "") -> None:
    """Raises EditRefused unless a value is JSON that our own reader would take."""
    if fault := _fault(given):
        expected, found = fault
        raise EditRefused(path, spot, expected=expected, found=what + found)


def _fault(given: Any) -> tuple[str, str] | None:
    waiting: list[tuple[Any, int]] = [(given, 1)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_DEPTH + 1:
            return f"at most {MAX_DEPTH} levels", "deeper nesting"
        if isinstance(item, Mapping):
            mapping: Mapping[Any, Any] = cast("Any", item)
            for key, inner in mapping.items():
                if not isinstance(key, str):
                    return "text as a key", type(key).__name__
                waiting += [(key, depth), (inner, depth + 1)]
        elif isinstance(item, (list, tuple)):
            waiting += [(inner, depth + 1) for inner in cast("Sequence[Any]", item)]
        elif fault := _scalar_fault(item):
            return fault
    return None


def _scalar_fault(item: Any) -> tuple[str, str] | None:
    if isinstance(item, str):
        try:
            item.encode("utf-8")
        except UnicodeEncodeError:
            return "text", "half of a surrogate pair"
        return None
    if item is None or isinstance(item, bool):
        return None
    if isinstance(item, int):
        return None if -_INT64 <= item < _INT64 else ("a number that fits in 64 bits", "a larger one")
    if isinstance(item, float):
        return None if math.isfinite(item) else ("a finite number", str(item))
    return "JSON", type(item).__name__
