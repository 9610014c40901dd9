"""One file as text: its documents, the places of everything in them, and the habits of who wrote it."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reconciler.edits.problems import EditRefused
from schemas.reading.outline import Form, Node, Outlined, outline
from schemas.reading.raw_text import without_bom
from schemas.reading.read import JSON_SUFFIXES, read
from schemas.reading.records import Spot
from schemas.values import JsonValue

_LINE_END = re.compile(r"\r\n|\n")
_COMMENT_LINE = re.compile(r"([ \t]*)(#[^\r\n]*)?(?=\r?\n|\Z)")
_COMMENT = re.compile(r"(?<![^\s])#[^\r\n]*")
_BROKEN: Final = "a file that can be read"


@dataclass(frozen=True, kw_only=True)
class Habits:
    """`step`: how much deeper what is inside a mapping stands; `list_step`: the same for the `-` of its lists, 0 where
    they stand below the key. `quote`: the sign that most quoted text of the file has."""

    newline: str
    step: int
    list_step: int
    quote: Form


class Source:
    """A file that can be read without a fault; raises EditRefused for any other."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.is_json = path.lower().endswith(JSON_SUFFIXES)
        reading = read(path, data)
        for fault in reading.faults[:1]:
            raise EditRefused(
                path, fault.spot, expected=fault.expected, found=fault.found, hint=fault.hint, field=fault.path
            )
        rest = without_bom(data)
        self.bom = data[: len(data) - len(rest)]
        self.text = rest.decode("utf-8")
        if lone := re.search(r"\r(?!\n)", self.text):
            hint = "convert the file to LF line ends"
            raise EditRefused(
                path, self.spot(lone.start()), expected="LF or CRLF line ends", found="CR alone", hint=hint
            )
        self.all_documents = outline(path, self.text)
        self.documents = tuple(found for found in self.all_documents if not is_nothing(found.root))
        self.values: tuple[JsonValue, ...] = tuple(document.value for document in reading.documents)

    # Lines

    def line_start(self, at: int) -> int:
        """Where the line of a place begins."""
        return self.text.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Before the line break of a place's line, or the end of the file."""
        match = _LINE_END.search(self.text, at)
        return match.start() if match else len(self.text)

    def line_end_before(self, at: int) -> int:
        """Before the line break in front of a line that begins at `at`, which is not the first."""
        return at - 2 if self.text.startswith("\r\n", at - 2) else at - 1

    def without_blanks(self, line: int, above: int) -> int:
        """The first of the empty lines in front of a line, as far as `above`: what ends there may hold some itself."""
        while line > 0:
            before = self.line_start(line - 1)
            if before <= above or self.text[before:line].strip():
                break
            line = before
        return line

    def next_line(self, at: int) -> int:
        """Where the line after a place's begins, or the end of the file."""
        match = _LINE_END.search(self.text, at)
        return match.end() if match else len(self.text)

    def column(self, at: int) -> int:
        """How many characters stand before a place in its line."""
        return at - self.line_start(at)

    def before(self, at: int) -> str:
        """What stands in a place's line before it."""
        return self.text[self.line_start(at) : at]

    def spot(self, at: int) -> Spot:
        """The place as editors show it."""
        return Spot(self.text.count("\n", 0, at) + 1, self.column(at) + 1)

    # Comments

    def comments(self, start: int, end: int) -> list[tuple[int, str]]:
        """The comments between two places, with their places. Wants no place inside a scalar."""
        found: list[tuple[int, str]] = []
        if self.is_json or "#" not in self.text[start:end]:
            return found
        at = start
        for low, high in self._scalars:
            if high <= start:
                continue
            if low >= end:
                break
            found.extend((m.start(), m.group()) for m in _COMMENT.finditer(self.text, at, max(at, low)))
            at = max(at, high)
        found.extend((m.start(), m.group()) for m in _COMMENT.finditer(self.text, at, end))
        return found

    def leading(self, at: int) -> int:
        """Where the lines of an entry that begins at `at` begin: with the comments directly above, indented like it."""
        start = self.line_start(at)
        mark = self.text[start:at] + "#"
        while start > 0:
            above = self.line_start(start - 1)
            if not self.text.startswith(mark, above) or self._in_scalar(above):
                break
            start = above
        return start

    def behind(self, at: int, column: int) -> int:
        """The end of the last line of what ends at `at` and whose key or dash stands in `column`: comments below that
        are indented deeper are still in it."""
        end = self.line_end(at)
        line = self.next_line(at)
        while line < len(self.text):
            match = _COMMENT_LINE.match(self.text, line)
            if match is None or (match[2] and len(match[1]) <= column):
                break
            if match[2]:
                end = match.end()
            line = self.next_line(line)
        return end

    def _in_scalar(self, at: int) -> bool:
        place = bisect_right(self._scalars, (at, len(self.text)))
        return place > 0 and self._scalars[place - 1][1] > at

    @functools.cached_property
    def _scalars(self) -> list[tuple[int, int]]:
        """Where text stands that a `#` may be part of; of a block only its lines, as its first may have a comment."""
        found: list[tuple[int, int]] = []
        for document in self.all_documents:
            for node, keys in _scalars(document.root):
                found.extend(keys)
                if node is not None and "#" in self.text[node.start : node.end]:
                    low = self.next_line(node.start) if node.form in (Form.LITERAL, Form.FOLDED) else node.start
                    found.append((low, node.end))
        found.sort()
        return found

    def lines_of(self, number: int) -> list[str]:
        """The lines of a document, with its comments, without its `---`."""
        document = self.documents[number]
        place = self.all_documents.index(document)
        end = self.line_start(self.all_documents[place + 1].start) if place + 1 < len(self.all_documents) else None
        if document.closed is not None:
            end = self.line_start(document.closed)
        start = self.next_line(document.start) if document.marked else self._head_of(document, place)
        if document.marked and start > document.root.start:  # its value begins in the line of its `---`
            start = document.root.start
        return self.text[start:end].rstrip("\r\n").replace("\r\n", "\n").split("\n")

    def _head_of(self, document: Outlined, place: int) -> int:
        """Where an unmarked document begins: with its comments."""
        return 0 if place == 0 else self.leading(document.root.start)

    # Habits

    @functools.cached_property
    def habits(self) -> Habits:
        """How this file is written, with the ways of this house where it does not say."""
        steps: Counter[int] = Counter()
        lists: Counter[int] = Counter()
        quotes: Counter[Form] = Counter()
        for document in self.documents:
            self._count(document.root, steps, lists, quotes)
        crlf = self.text.count("\r\n")
        return Habits(
            newline="\r\n" if crlf * 2 > self.text.count("\n") else "\n",
            step=_most(steps, 2),
            list_step=_most(lists, _most(steps, 2)),
            quote=Form.SINGLE if quotes[Form.SINGLE] > quotes[Form.DOUBLE] else Form.DOUBLE,
        )

    def _count(self, node: Node, steps: Counter[int], lists: Counter[int], quotes: Counter[Form]) -> None:
        if node.members is None:
            if node.form in (Form.SINGLE, Form.DOUBLE):
                quotes[node.form] += 1
            return
        if not node.members:
            return
        here = self.column(node.members[0].start) if node.form is Form.BLOCK else 0
        for member in node.members:
            inner = member.value
            if member.key_form in (Form.SINGLE, Form.DOUBLE):
                quotes[member.key_form] += 1
            if node.form is Form.BLOCK and node.is_mapping and inner.form is Form.BLOCK and inner.members:
                (steps if inner.is_mapping else lists)[self.column(inner.members[0].start) - here] += 1
            self._count(inner, steps, lists, quotes)


def is_nothing(node: Node) -> bool:
    """Whether a value is missing (or null), as a document that is no document."""
    return node.members is None and node.value is None


def _scalars(node: Node) -> Iterator[tuple[Node | None, list[tuple[int, int]]]]:
    if node.members is None:
        yield node, []
        return
    for member in node.members:
        if member.key is not None and "#" in member.key:
            yield None, [(member.start, member.head_end)]
        yield from _scalars(member.value)


def _most(counted: Counter[int], otherwise: int) -> int:
    return counted.most_common(1)[0][0] if counted else otherwise
