"""Strict JSON with positions: what RFC 8259 allows, each key once.

Read by hand because the standard library's parser tells neither the places of values nor of the first of two
equal keys. One JSON file is one document.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from typing import Final

from schemas.reading import scalars
from schemas.reading.records import Fault, Path, Positions, RawDocument, Reading, Spot
from schemas.values import JsonValue

MAX_DEPTH: Final = 64

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_WORD = re.compile(r"true|false|null")
_VARIABLE = re.compile(r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|\{\{.*?\}\}|<[A-Za-z_][A-Za-z0-9_ -]*>")
_JUNK = re.compile(r"[^\s,\]}]{1,40}|.", re.DOTALL)


def read(data: bytes, *, positions: bool) -> Reading:
    """The one document of `data`, which is UTF-8; an empty file holds none. Broken syntax ends the reading."""
    return _Reader(data.decode("utf-8"), positions=positions).read()


class _Broken(Exception):
    """The text cannot be read further; the fault is recorded."""


class _Reader:
    def __init__(self, text: str, *, positions: bool) -> None:
        self._text = text
        self._at = 0
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._keep = positions
        self._positions = Positions()
        self._has_null = False
        self._faults: list[Fault] = []

    def read(self) -> Reading:
        try:
            self._skip()
            if self._at == len(self._text):
                return Reading()
            spot = self._spot()
            value = self._value((), 0)
            self._skip()
            if self._at < len(self._text):
                raise self._broken("the end of the file", self._junk(), "one JSON file holds one document")
        except _Broken:
            return Reading(faults=tuple(self._faults))
        kept = self._positions if self._keep else None
        if value is None:
            return Reading(faults=tuple(self._faults))
        document = RawDocument(value=value, spot=spot, has_null=self._has_null, positions=kept)
        return Reading(documents=(document,), faults=tuple(self._faults))

    def _value(self, path: Path, depth: int) -> JsonValue:
        text = self._text
        if self._keep:
            self._positions.values[path] = self._spot()
        head = text[self._at : self._at + 1]
        if head and head in "{[":
            if depth >= MAX_DEPTH:
                raise self._broken(f"at most {MAX_DEPTH} levels", "deeper nesting", "")
            return self._object(path, depth + 1) if head == "{" else self._array(path, depth + 1)
        if match := _STRING.match(text, self._at):
            self._at = match.end()
            return self._decoded(match)
        if match := _WORD.match(text, self._at):
            self._at = match.end()
            word = scalars.WORDS[match.group()]
            self._has_null = self._has_null or word is None
            return word
        if match := _NUMBER.match(text, self._at):
            return self._number(match, path)
        if match := _VARIABLE.match(text, self._at):
            raise self._broken("a value", f"the unresolved variable {match.group()}", "write the value")
        hint = "remove the trailing comma" if head and head in "]}" else ""
        raise self._broken("a value", self._junk(), hint)

    def _object(self, path: Path, depth: int) -> JsonValue:
        result: dict[str, JsonValue] = {}
        first: dict[str, Spot] = {}
        self._at += 1
        self._skip()
        if self._take("}"):
            return result
        while True:
            spot = self._spot()
            match = _STRING.match(self._text, self._at)
            if match is None:
                hint = "remove the trailing comma" if self._text.startswith("}", self._at) else ""
                raise self._broken("a key in double quotes", self._junk(), hint)
            self._at = match.end()
            key = self._decoded(match)
            here = (*path, key)
            self._skip()
            if not self._take(":"):
                raise self._broken("':'", self._junk(), "")
            self._skip()
            self._positions.keys[here] = spot
            if key in first:
                found = f"`{key}` a second time (first in line {first[key].line})"
                hint = "keep one of the two"
                self._faults.append(Fault(spot=spot, expected="each key once", found=found, hint=hint, path=here))
                self._value(here, depth)
            else:
                first[key] = spot
                result[key] = self._value(here, depth)
            self._skip()
            if self._take("}"):
                return result
            self._comma("}")

    def _array(self, path: Path, depth: int) -> JsonValue:
        result: list[JsonValue] = []
        self._at += 1
        self._skip()
        if self._take("]"):
            return result
        while True:
            result.append(self._value((*path, len(result)), depth))
            self._skip()
            if self._take("]"):
                return result
            self._comma("]")

    def _comma(self, end: str) -> None:
        if not self._take(","):
            raise self._broken(f"',' or '{end}'", self._junk(), "")
        self._skip()

    def _number(self, match: re.Match[str], path: Path) -> JsonValue:
        text = match.group()
        spot = self._spot()
        self._at = match.end()
        following = self._text[self._at : self._at + 1]
        if following and following not in " \t\r\n,]}":
            self._at = match.start()
            raise self._broken("a number", self._junk(), "quote it if it is text")
        if self._keep:
            self._positions.numbers[path] = text
        try:
            return scalars.number(text)
        except scalars.NumberRefused:
            shown = text if len(text) <= 40 else f"{text[:37]}…"
            expected = "a number that fits in 64 bits"
            self._faults.append(
                Fault(spot=spot, expected=expected, found=shown, hint="quote it if it is text", path=path)
            )
            return None

    def _decoded(self, match: re.Match[str]) -> str:
        text = match.group()
        if "\\" not in text:
            return text[1:-1]
        decoded: str = json.loads(text)
        try:
            decoded.encode("utf-8")
        except UnicodeEncodeError:
            self._at = match.start()
            raise self._broken(
                "text", "half of a surrogate pair", "write both halves or the character itself"
            ) from None
        return decoded

    def _take(self, character: str) -> bool:
        if not self._text.startswith(character, self._at):
            return False
        self._at += 1
        return True

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _spot(self) -> Spot:
        line = bisect_left(self._line_ends, self._at)
        start = self._line_ends[line - 1] + 1 if line else 0
        return Spot(line + 1, self._at - start + 1)

    def _junk(self) -> str:
        match = _JUNK.match(self._text, self._at)
        return repr(match.group()) if match else "the end of the file"

    def _broken(self, expected: str, found: str, hint: str) -> _Broken:
        self._faults.append(Fault(spot=self._spot(), expected=expected, found=found, hint=hint))
        return _Broken()
