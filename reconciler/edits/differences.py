"""Two states of a file side by side, document by document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, TypeAlias, cast

import jsonpointer

from reconciler.edits.equality import same
from reconciler.edits.files import identity
from reconciler.edits.problems import EditRefused
from reconciler.edits.source import Source
from schemas.values import JsonObject, JsonValue, canonical

Verb: TypeAlias = Literal["add", "remove", "change"]


@dataclass(frozen=True, kw_only=True)
class DocumentDifference:
    """One document that differs. `patch`: RFC 6902, from what it was to what it is; of one that was added or removed
    the whole document at "". Mappings and lists are gone into; it never moves or copies."""

    kind: str
    name: str
    verb: Verb
    patch: tuple[JsonObject, ...]


def differences(before: bytes | None, after: bytes | None, *, path: str) -> tuple[DocumentDifference, ...]:
    """What differs between two states of a file, by kind and name; None: there is no file. The order of documents and
    of keys, and comments, are no difference. Raises EditRefused for a file that cannot be read."""
    old, new = (by_identity(Source(path, text)) if text is not None else {} for text in (before, after))
    found: list[DocumentDifference] = []
    for kind, name in sorted(old.keys() | new.keys()):
        was, now = old.get((kind, name)), new.get((kind, name))
        if was is None:
            steps: tuple[JsonObject, ...] = ({"op": "add", "path": "", "value": now},)
            found.append(DocumentDifference(kind=kind, name=name, verb="add", patch=steps))
        elif now is None:
            found.append(DocumentDifference(kind=kind, name=name, verb="remove", patch=({"op": "remove", "path": ""},)))
        elif not same(was, now):
            found.append(DocumentDifference(kind=kind, name=name, verb="change", patch=tuple(patch(was, now))))
    return tuple(found)


def by_identity(source: Source) -> dict[tuple[str, str], JsonObject]:
    """The documents of a file by kind and name. Raises EditRefused where one has none, or two have the same."""
    found: dict[tuple[str, str], JsonObject] = {}
    for document, value in zip(source.documents, source.values, strict=True):
        name, spot = identity(value), source.spot(document.root.start)
        if name is None:
            raise EditRefused(source.path, spot, expected="a document with kind and metadata.name", found="another")
        if name in found:
            expected, found_text = f"each {name[0]} once", f"{name[1]} a second time"
            raise EditRefused(source.path, spot, expected=expected, found=found_text, hint="keep one of the two")
        found[name] = value
    return found


def patch(before: JsonValue, after: JsonValue, at: str = "") -> Iterator[JsonObject]:
    """The steps of an RFC 6902 patch that makes one value into another."""
    was: Any = before
    now: Any = after
    if same(was, now):
        return
    if isinstance(was, dict) and isinstance(now, dict):
        yield from _mapping(cast("JsonObject", was), cast("JsonObject", now), at)
    elif isinstance(was, list) and isinstance(now, list):
        old: list[Any] = cast("Any", was)
        new: list[Any] = cast("Any", now)
        yield from _list(old, new, at)
    else:
        yield {"op": "replace", "path": at, "value": now}


def _mapping(before: JsonObject, after: JsonObject, at: str) -> Iterator[JsonObject]:
    for key in [*before, *(key for key in after if key not in before)]:
        here = f"{at}/{jsonpointer.escape(key)}"
        if key not in after:
            yield {"op": "remove", "path": here}
        elif key not in before:
            yield {"op": "add", "path": here, "value": after[key]}
        else:
            yield from patch(before[key], after[key], here)


def _list(before: list[Any], after: list[Any], at: str) -> Iterator[JsonObject]:
    """From the front: places count in the list as it is at that step."""
    old, new = [canonical(item) for item in before], [canonical(item) for item in after]
    moved = 0
    for _, low, high, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if old[low:high] == new[start:end]:
            continue
        both = min(high - low, end - start)
        for number in range(both):
            yield from patch(before[low + number], after[start + number], f"{at}/{low + number + moved}")
        for number in range(low + both, high):
            yield {"op": "remove", "path": f"{at}/{number + moved}"}
            moved -= 1
        for number in range(start + both, end):
            yield {"op": "add", "path": f"{at}/{number}", "value": after[number]}
            moved += 1
