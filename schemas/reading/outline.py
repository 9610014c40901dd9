"""Where everything of a file begins and ends: the tree of its documents with the places of keys and values.

For edits of text. Only for text that `read` took without a fault: what that refuses is not looked for here. Places
are offsets in characters, as Python's strings count them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from yaml import cyaml
from yaml.events import (
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from schemas.reading import scalars
from schemas.reading.read import JSON_SUFFIXES
from schemas.values import JsonValue

_EVENTS: Final[Any] = vars(cyaml)["CParser"]
_type: Callable[[object], object] = type  # events reach us untyped; this keeps `type` from spreading that


class Form(Enum):
    """How a value is written."""

    PLAIN = "plain"
    SINGLE = "'"
    DOUBLE = '"'
    LITERAL = "|"
    FOLDED = ">"
    FLOW = "flow"
    BLOCK = "block"


_FORMS: Final[dict[str | None, Form]] = {
    None: Form.PLAIN,
    "": Form.PLAIN,
    **{form.value: form for form in Form},
}


@dataclass(slots=True)
class Node:
    """A value. `end` is behind its last character: of a block of text its last line that is not blank (with `+` the
    last), of a block of entries the end of the last one; line breaks and comments behind are not in it.

    `members` is None for scalars; `value` is theirs only.
    """

    start: int
    end: int
    form: Form
    value: JsonValue
    members: list[Member] | None
    is_mapping: bool

    def data(self) -> JsonValue:
        """The value as plain JSON."""
        if self.members is None:
            return self.value
        if self.is_mapping:
            return {member.key: member.value.data() for member in self.members}
        return [member.value.data() for member in self.members]


@dataclass(slots=True)
class Member:
    """An entry of a mapping, or an item of a list (`key` is None).

    `start`: of the key, of the item's `-`, of the item itself between brackets. `head_end`: behind the key, without
    the colon; behind the `-`; between brackets the same as `start`.
    """

    start: int
    head_end: int
    key: str | None
    key_form: Form
    value: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlined:
    """One document. `start`: of its `---`, or of its root where there is none. `marked`: there is one.

    `closed`: behind its `...`, or None. A document without a value counts here, unlike for those who read values.
    """

    start: int
    marked: bool
    root: Node
    closed: int | None


def outline(path: str, text: str) -> tuple[Outlined, ...]:
    """All documents of a text without its byte order mark."""
    return _json(text) if path.lower().endswith(JSON_SUFFIXES) else _Yaml(text).documents()


# YAML ----------------------------------------------------------------------------------------------------------------

_DASH = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*-")
_BLANK_END = re.compile(r"(?:\r?\n[ \t]*)+\Z")
_HEADER = re.compile(r"[|>][-+0-9]*")


class _Yaml:
    def __init__(self, text: str) -> None:
        self._text = text
        self._next: Any = _EVENTS(text).get_event

    def documents(self) -> tuple[Outlined, ...]:
        found: list[Outlined] = []
        while True:
            event = self._next()
            kind = _type(event)
            if kind is StreamEndEvent:
                return tuple(found)
            if kind is DocumentStartEvent:
                marked: bool = event.explicit
                start: int = event.start_mark.index
                root = self._node(self._next())
                end: Any = self._next()
                closed = end.end_mark.index if end.explicit else None
                found.append(Outlined(start=start if marked else root.start, marked=marked, root=root, closed=closed))

    def _node(self, event: Any) -> Node:
        kind = _type(event)
        start: int = event.start_mark.index
        if kind is ScalarEvent:
            form = _FORMS[event.style]
            text: str = event.value
            end: int = event.end_mark.index
            if form is Form.PLAIN:
                value = _plain(text)
                return Node(start, end if text else start, form, value, None, False)
            if form is Form.LITERAL or form is Form.FOLDED:
                end = self._block_end(start, end)
            return Node(start, end, form, text, None, False)
        form = Form.FLOW if event.flow_style else Form.BLOCK
        members: list[Member] = []
        if kind is MappingStartEvent:
            end = self._mapping(members)
        elif form is Form.FLOW:
            end = self._flow_list(members)
        else:
            end = self._block_list(members, start)
        if form is Form.BLOCK:
            end = members[-1].value.end
        return Node(start, end, form, None, members, kind is MappingStartEvent)

    def _mapping(self, members: list[Member]) -> int:
        following = self._next
        while True:
            event = following()
            if _type(event) is MappingEndEvent:
                end: int = event.end_mark.index
                return end
            members.append(
                Member(
                    event.start_mark.index,
                    event.end_mark.index,
                    event.value,
                    _FORMS[event.style],
                    self._node(following()),
                )
            )

    def _flow_list(self, members: list[Member]) -> int:
        while True:
            event = self._next()
            if _type(event) is SequenceEndEvent:
                end: int = event.end_mark.index
                return end
            value = self._node(event)
            members.append(Member(value.start, value.start, None, Form.PLAIN, value))

    def _block_list(self, members: list[Member], start: int) -> int:
        behind = start
        while True:
            event = self._next()
            if _type(event) is SequenceEndEvent:
                return behind
            dash = _DASH.match(self._text, behind)
            assert dash is not None
            value = self._node(event)
            members.append(Member(dash.end() - 1, dash.end(), None, Form.PLAIN, value))
            behind = value.end

    def _block_end(self, start: int, end: int) -> int:
        header = _HEADER.match(self._text, start)
        assert header is not None
        if "+" in header.group():
            text = self._text[start:end]
            return end - (2 if text.endswith("\r\n") else 1 if text.endswith(("\n", "\r")) else 0)
        blank = _BLANK_END.search(self._text, header.end(), end)
        return blank.start() if blank else end


def _plain(text: str) -> JsonValue:
    if text in scalars.WORDS:
        return scalars.WORDS[text]
    return scalars.number(text) if text[0] in scalars.NUMBER_STARTS else text


# JSON ----------------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r'[ \t\r\n]*(?:([{}\[\],:])|("(?:[^"\\]|\\.)*")|([^ \t\r\n{}\[\],:"]+))', re.DOTALL)


def _json(text: str) -> tuple[Outlined, ...]:
    first = _TOKEN.match(text)
    if first is None:
        return ()
    root, _ = _json_node(text, first)
    return (Outlined(start=root.start, marked=False, root=root, closed=None),)


def _json_node(text: str, token: re.Match[str]) -> tuple[Node, int]:
    start = token.start(token.lastindex or 0)
    sign = token[1]
    if sign is None:
        value: JsonValue = json.loads(token[2] or token[3])
        return Node(start, token.end(), Form.DOUBLE if token[2] else Form.PLAIN, value, None, False), token.end()
    members: list[Member] = []
    at = token.end()
    while True:
        token = _json_token(text, at)
        if token[1] in ("}", "]"):
            return Node(start, token.end(), Form.FLOW, None, members, sign == "{"), token.end()
        if token[1] == ",":
            at = token.end()
            continue
        if sign == "{":
            key_start, key_end, key = token.start(2), token.end(), str(json.loads(token[2]))
            value, at = _json_node(text, _json_token(text, _json_token(text, key_end).end()))
            members.append(Member(key_start, key_end, key, Form.DOUBLE, value))
        else:
            value, at = _json_node(text, token)
            members.append(Member(value.start, value.start, None, Form.PLAIN, value))


def _json_token(text: str, at: int) -> re.Match[str]:
    token = _TOKEN.match(text, at)
    assert token is not None
    return token
