"""Entries between brackets: `{a: 1, b: 2}`, in one line or one a line, and all of JSON."""

from __future__ import annotations

import re

from reconciler.edits.equality import same
from reconciler.edits.orders import longest_rising
from reconciler.edits.pieces import Piece, Slot
from reconciler.edits.source import Source
from reconciler.edits.splices import Splice
from reconciler.edits.writing import Unclean, flow_key, flow_lines, flow_text
from schemas.reading.outline import Member, Node

_COLON = re.compile(r"\s*:[ \t]*")
_COMMA = re.compile(r"\s*,")
_REST = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?=\r?\n|\Z)")


class Brackets:
    """Makes the splices for what stands between brackets of one source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._text = source.text
        self._quote = source.habits.quote
        self._newline = source.habits.newline

    def anew(self, piece: Piece, node: Node) -> str:
        """A value in the place of another: over several lines if that was, or if what is around it is."""
        if piece.is_scalar:
            return flow_text(piece, quote=self._quote, json=self._source.is_json)
        if self._source.is_json and self._is_over_lines(node):
            return self._lines(piece, self._indent(node.start))
        return flow_text(piece, quote=self._quote, json=self._source.is_json)

    def changes(self, piece: Piece, node: Node) -> list[Splice]:
        """The splices for a mapping or list between brackets whose entries differ."""
        found: list[Splice] = []
        if self._text[node.start] not in "{[":
            raise Unclean("a mapping of one entry without braces inside a list", node.start, "write the braces")
        old, slots = node.members or [], piece.slots
        if not old or not slots:
            return [Splice(node.start, node.end, self._whole(piece, node))]
        places = {id(member): place for place, member in enumerate(old)}
        known = [(slot, places[id(slot.origin)]) for slot in slots if id(slot.origin) in places]
        staying = {place: slot for slot, place in longest_rising(known, lambda pair: pair[1])}
        if not staying:
            return [Splice(node.start, node.end, self._whole(piece, node))]
        for place, slot in staying.items():
            found += self._slot(slot, old[place])
        found += self._removals(node, old, staying)
        found += self._insertions(node, old, slots, staying)
        return found

    def _slot(self, slot: Slot, member: Member) -> list[Splice]:
        found: list[Splice] = []
        piece, node = slot.piece, member.value
        if slot.key != member.key:
            assert slot.key is not None
            key = flow_key(slot.key, quote=self._quote, json=self._source.is_json, like=member.key_form)
            found.append(Splice(member.start, member.head_end, key))
        if piece.node is node:
            if not piece.is_scalar:
                return [*found, *(self.changes(piece, node) if piece.touched else [])]
            if same(piece.value, node.value):
                return found
        if node.start == node.end:
            colon = _COLON.match(self._text, member.head_end)
            if colon is None:
                raise Unclean("a key without a value between braces", member.start, "write `key: value`")
            at = colon.end()
            found.append(Splice(at, at, ("" if colon.group().endswith(" ") else " ") + self._value(piece, node)))
        else:
            found.append(Splice(node.start, node.end, self._value(piece, node)))
        return found

    def _value(self, piece: Piece, node: Node) -> str:
        return self._entry_value(piece, self._indent(node.start), self._is_over_lines(node))

    def _whole(self, piece: Piece, node: Node) -> str:
        over_lines = self._is_over_lines(node) or (
            self._source.is_json and self._source.line_start(node.start) > 0 and self._first_in_line(node.start)
        )
        return self._entry_value(piece, self._indent(node.start), over_lines)

    def _entry_value(self, piece: Piece, indent: str, over_lines: bool) -> str:
        if over_lines and not piece.is_scalar and piece.slots:
            return self._lines(piece, indent)
        colon, comma = self._signs()
        return flow_text(piece, quote=self._quote, json=self._source.is_json, colon=colon, comma=comma)

    def _lines(self, piece: Piece, indent: str) -> str:
        unit = self._unit()
        json, newline = self._source.is_json, self._newline
        return flow_lines(piece, indent, unit, quote=self._quote, json=json, newline=newline)

    # Entries that go

    def _removals(self, node: Node, old: list[Member], staying: dict[int, Slot]) -> list[Splice]:
        last = max(staying)
        inner = [self._up_to_next(old, place) for place in range(last) if place not in staying]
        behind = old[last + 1 :]
        if not behind:
            return inner
        if not self._source.comments(old[last].value.end, behind[-1].value.end):
            return [*inner, Splice(old[last].value.end, behind[-1].value.end, "")]
        found = [*inner, *(self._own_lines(member) for member in behind)]
        comma = _COMMA.match(self._text, old[last].value.end)
        if comma and not _COMMA.match(self._text, behind[-1].value.end):
            found.append(Splice(comma.end() - 1, comma.end(), ""))
        return found

    def _up_to_next(self, old: list[Member], place: int) -> Splice:
        """An entry goes and the next one takes its place; if there are comments between them, its lines go."""
        start, end = old[place].start, old[place + 1].start
        if self._source.comments(old[place].value.end, end):
            return self._own_lines(old[place])
        return Splice(start, end, "")

    def _own_lines(self, member: Member) -> Splice:
        """The lines of an entry, with the comments directly above."""
        comma = _COMMA.match(self._text, member.value.end)
        if not self._first_in_line(member.start) or not _REST.match(
            self._text, comma.end() if comma else member.value.end
        ):
            raise Unclean("a comment beside entries in one line", member.start, "write one entry a line")
        return Splice(self._source.leading(member.start), self._source.next_line(member.value.end), "")

    # Entries that come

    def _insertions(self, node: Node, old: list[Member], slots: list[Slot], staying: dict[int, Slot]) -> list[Splice]:
        found: list[Splice] = []
        where = {id(slot): place for place, slot in staying.items()}
        behind: int | None = None
        before: list[str] = []
        groups: dict[int, list[str]] = {}
        for slot in slots:
            if id(slot) in where:
                behind = where[id(slot)]
                continue
            near = old[behind if behind is not None else min(staying)]
            text = self._entry(slot, near)
            (before if behind is None else groups.setdefault(behind, [])).append(text)
        if before:
            first = old[min(staying)]
            between = self._between(first)
            found.append(Splice(first.start, first.start, "".join(text + between for text in before)))
        for place, texts in groups.items():
            found += self._behind(old[place], texts)
        return found

    def _entry(self, slot: Slot, near: Member) -> str:
        over_lines = self._first_in_line(near.start)
        value = self._entry_value(slot.piece, self._indent(near.start), over_lines and self._source.is_json)
        if slot.key is None:
            return value
        colon = self._signs()[0]
        return flow_key(slot.key, quote=self._quote, json=self._source.is_json) + colon + value

    def _between(self, near: Member) -> str:
        if self._first_in_line(near.start):
            return "," + self._newline + self._source.before(near.start)
        return self._signs()[1]

    def _behind(self, member: Member, texts: list[str]) -> list[Splice]:
        at = member.value.end
        between = self._between(member)
        comma = _COMMA.match(self._text, at)
        rest = comma.end() if comma else at
        line = _REST.match(self._text, rest)
        if not self._first_in_line(member.start) or line is None or "#" not in line.group():
            return [Splice(at, at, "".join(between + text for text in texts))]
        # A comment behind the entry stays with it: the new ones go into the next line.
        indent = self._newline + self._source.before(member.start)
        new = (",").join(indent + text for text in texts) + ("," if comma else "")
        found = [] if comma else [Splice(at, at, ",")]
        return [*found, Splice(line.end(), line.end(), new)]

    # How it is written here

    def _first_in_line(self, at: int) -> bool:
        return not self._source.before(at).strip()

    def _is_over_lines(self, node: Node) -> bool:
        return "\n" in self._text[node.start : node.end]

    def _indent(self, at: int) -> str:
        before = self._source.before(at)
        return before[: len(before) - len(before.lstrip())]

    def _unit(self) -> str:
        """How much deeper each level stands; as the first entry of the first document over lines has it."""
        for document in self._source.documents:
            root = document.root
            for member in root.members or []:
                if self._first_in_line(member.start) and member.start > root.start:
                    return self._source.before(member.start) or "  "
        return "  "

    def _signs(self) -> tuple[str, str]:
        """`: ` and `, `, or without their spaces where JSON is written so."""
        if self._source.is_json and '": ' not in self._text and '":' in self._text:
            return ":", ","
        return ": ", ", "
