"""Strict YAML 1.2 core, built from libyaml's events.

YAML's conveniences are where configuration goes wrong in silence: of two equal keys the last one wins, an alias
changes a second place, a tag or an unquoted `on` changes a type. All of them are refused here, with the place.
Faults do not stop the reading, so that one pass reports all of them; only broken syntax ends a file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

import yaml
from yaml import cyaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from schemas.reading import scalars
from schemas.reading.records import Fault, Path, Positions, RawDocument, Reading, Spot
from schemas.values import JsonValue

MAX_DEPTH: Final = 64

# libyaml's event parser alone: the loaders around it cost a sixth more. The type stubs do not export it.
_EVENTS: Final[Any] = vars(cyaml)["CParser"]
# First characters (or none) of plain scalars that might be a number, true, false or nothing.
_NOT_SURELY_TEXT: Final = frozenset((*scalars.NUMBER_STARTS, *(word[:1] for word in scalars.WORDS)))
# Events reach us untyped; this keeps `type` from spreading that.
_type: Callable[[object], object] = type


def read(data: bytes, *, positions: bool) -> Reading:
    """All documents of `data`, which is UTF-8 without forbidden characters. Positions cost about a fifth."""
    return _Reader(data, positions=positions).read()


class _TooDeep(Exception):
    pass


class _Reader:
    """One pass over one file. A class, because closures that call each other would be garbage in cycles."""

    def __init__(self, data: bytes, *, positions: bool) -> None:
        self._data = data
        self._next: Any = _EVENTS(data).get_event
        self._keep = positions
        self._positions: Positions | None = None  # of the document being read, if they are kept
        self._has_null = False
        self._faults: list[Fault] = []

    def read(self) -> Reading:
        documents: list[RawDocument] = []
        try:
            while True:
                event = self._next()
                kind = _type(event)
                if kind is StreamEndEvent:
                    break
                if kind is DocumentStartEvent:
                    self._directives(event)
                    self._positions, self._has_null = Positions() if self._keep else None, False
                    root = self._next()
                    value = self._value(root, (), 0)
                    if value is not None:
                        documents.append(
                            RawDocument(
                                value=value, spot=_spot(root), has_null=self._has_null, positions=self._positions
                            )
                        )
        except yaml.YAMLError as error:
            self._faults.append(_syntax(error, self._data))
        except _TooDeep:
            pass  # its fault is recorded; the rest of the file means nothing without it
        return Reading(documents=tuple(documents), faults=tuple(self._faults))

    def _value(self, event: Any, path: Path, depth: int) -> JsonValue:
        kind = _type(event)
        if self._positions is not None:
            self._positions.values[path] = _spot(event)
        if kind is AliasEvent:
            self._fault(event, path, "a value", f"the alias *{event.anchor}", "write the value out again")
            return None
        if event.anchor is not None:
            self._fault(event, path, "a value", f"the anchor &{event.anchor}", "remove it: there are no aliases here")
        if event.tag is not None:
            self._fault(event, path, "a value", f"the tag {event.tag}", "remove it; quote what should be text")
        if kind is ScalarEvent:
            return self._scalar(event, path) if event.implicit[0] else event.value
        if depth >= MAX_DEPTH:
            self._fault(event, path, f"at most {MAX_DEPTH} levels", "deeper nesting", "")
            raise _TooDeep
        if kind is MappingStartEvent:
            return self._mapping(path, depth + 1)
        return self._sequence(path, depth + 1)

    def _mapping(self, path: Path, depth: int) -> JsonValue:
        result: dict[str, JsonValue] = {}
        following = self._next
        positions = self._positions
        while True:
            event = following()
            kind = _type(event)
            if kind is MappingEndEvent:
                return result
            if kind is not ScalarEvent:
                self._fault(event, path, "text as a key", "a list, a mapping or an alias", "")
                self._value(event, path, depth)
                self._value(following(), path, depth)
                continue
            key = sys.intern(event.value)
            if event.anchor is not None or event.tag is not None or key[:1] in _NOT_SURELY_TEXT:
                self._unusual_key(event, (*path, key), key)
            if key in result:
                self._again(event, (*path, key), key)
                self._value(following(), (*path, key), depth)
                continue
            if positions is not None:
                positions.keys[*path, key] = _spot(event)
            value = following()
            if (
                positions is None
                and _type(value) is ScalarEvent
                and (value.value[:1] not in _NOT_SURELY_TEXT or not value.implicit[0])
                and value.anchor is None
                and value.tag is None
            ):
                result[key] = value.value  # plain text, as most values are: the short way
            else:
                result[key] = self._value(value, (*path, key), depth)

    def _sequence(self, path: Path, depth: int) -> JsonValue:
        result: list[JsonValue] = []
        while True:
            event = self._next()
            if _type(event) is SequenceEndEvent:
                return result
            result.append(self._value(event, (*path, len(result)), depth))

    def _scalar(self, event: Any, path: Path) -> JsonValue:
        text: str = event.value
        if text in scalars.WORDS:
            word = scalars.WORDS[text]
            self._has_null = self._has_null or word is None
            return word
        if text[0] not in scalars.NUMBER_STARTS:
            return text
        try:
            value = scalars.number(text)
        except scalars.NumberRefused:
            shown = text if len(text) <= 40 else f"{text[:37]}…"
            self._fault(event, path, "a number that fits in 64 bits", shown, "quote it if it is text")
            return None
        if self._positions is not None and not isinstance(value, str):
            self._positions.numbers[path] = text
        return value

    def _unusual_key(self, event: Any, path: Path, key: str) -> None:
        """Refuse a key that YAML would not read as plain text: in JSON it could not even be written."""
        if event.anchor is not None or event.tag is not None:
            self._fault(event, path, "a plain key", f"the key {key!r} with an anchor or a tag", "remove it")
            return
        if not event.implicit[0]:
            return
        if key not in scalars.WORDS:
            if key[0] not in scalars.NUMBER_STARTS:
                return
            try:
                if isinstance(scalars.number(key), str):
                    return
            except scalars.NumberRefused:
                pass
        self._fault(event, path, "text as a key", key or "an empty key", "quote it")

    def _again(self, event: Any, path: Path, key: str) -> None:
        first = self._positions.keys.get(path) if self._positions is not None else None
        where = f" (first in line {first.line})" if first else ""
        self._fault(event, path, "each key once", f"`{key}` a second time{where}", "keep one of the two")

    def _directives(self, event: Any) -> None:
        if event.version not in (None, (1, 2)):
            self._fault(event, (), "YAML 1.2", "%YAML {}.{}".format(*event.version), "remove the directive")
        if event.tags:
            self._fault(event, (), "no tags", "a %TAG directive", "remove it")

    def _fault(self, event: Any, path: Path, expected: str, found: str, hint: str) -> None:
        self._faults.append(Fault(spot=_spot(event), expected=expected, found=found, hint=hint, path=path))


def _spot(event: Event) -> Spot:
    mark: Any = event.start_mark
    return Spot(mark.line + 1, mark.column + 1)


def _syntax(error: yaml.YAMLError, data: bytes) -> Fault:
    mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "what it cannot be"
    if mark is None:
        return Fault(spot=Spot(1, 1), expected="YAML", found=str(problem))
    context = getattr(error, "context", None)
    found = f"an error {context}: {problem}" if context else str(problem)
    lines = data.decode("utf-8", "replace").splitlines()
    number: int = mark.line
    hint = _syntax_hint(lines[number]) if number < len(lines) else ""
    return Fault(spot=Spot(number + 1, mark.column + 1), expected="YAML", found=found, hint=hint)


def _syntax_hint(line: str) -> str:
    if "${" in line or "{{" in line:
        return "an unresolved variable? Nothing is substituted here: write the value"
    if "\t" in line:
        return "indent with spaces, not tabs"
    if line.count(": ") > 1:
        return "quote text that contains ': '"
    return ""
