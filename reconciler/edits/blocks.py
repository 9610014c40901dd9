"""The splices that make a text say what its tree of pieces says: whole lines in blocks, entries between brackets."""

from __future__ import annotations

import re
from typing import Final

from reconciler.edits.brackets import Brackets
from reconciler.edits.equality import same
from reconciler.edits.orders import longest_rising
from reconciler.edits.pieces import Piece, Slot
from reconciler.edits.source import Source
from reconciler.edits.splices import Splice
from reconciler.edits.writing import Block, BlockWriter, Unclean
from schemas.reading.outline import Form, Member, Node

_COLON = re.compile(r"[ \t]*:")
_INDENT = re.compile(r"[ \t]*")
_HEADER = re.compile(r"[|>][-+0-9]*")
_TEXTS: Final = (Form.LITERAL, Form.FOLDED)


class Splicer:
    """Collects the splices for one document."""

    def __init__(self, source: Source, *, carry: bool) -> None:
        self._source = source
        self._text = source.text
        self._newline = source.habits.newline
        self._writer = BlockWriter(source.habits, carry=carry)
        self._brackets = Brackets(source)
        self.splices: list[Splice] = []

    def root(self, piece: Piece, node: Node) -> None:
        """The value of a whole document, which stays a value of its kind or becomes another."""
        if self._is_here(piece, node):
            self._inside(piece, node, 0)
            return
        block = self._writer.value(piece, 0, in_list=False) if not piece.is_scalar and piece.slots else None
        if node.form is Form.FLOW or self._source.is_json:
            self._add(node.start, node.end, self._brackets.anew(piece, node))
        elif block is not None and not self._source.before(node.start).strip():
            lines = self._writer.entries(piece.slots, 0)
            self._add(node.start, self._source.behind(node.end, 0), self._newline.join(lines))
        else:
            self._add(node.start, node.end, self._brackets.anew(piece, node))

    # A value in its place

    def _is_here(self, piece: Piece, node: Node) -> bool:
        """Whether a value is the one that stands there, perhaps with something else inside."""
        if piece.node is not node:
            return False
        return piece.is_scalar or bool(piece.slots) == bool(node.members) or not piece.touched

    def _inside(self, piece: Piece, node: Node, column: int) -> None:
        """`column`: that of the key or dash in front of the value."""
        if piece.is_scalar:
            if not same(piece.value, node.value):
                raise AssertionError("a scalar that changed is replaced")
        elif piece.touched:
            if node.form is Form.FLOW:
                self.splices += self._brackets.changes(piece, node)
            else:
                self._block(piece, node)

    def _slot(self, slot: Slot, member: Member, column: int) -> None:
        if slot.key != member.key:
            assert slot.key is not None
            self._colon(member)
            self._add(member.start, member.head_end, self._writer.key(slot.key, member.key_form))
        piece, node = slot.piece, member.value
        if self._is_here(piece, node) and (not piece.is_scalar or same(piece.value, node.value)):
            self._inside(piece, node, column)
            return
        head = self._colon(member) if member.key is not None else member.head_end
        in_list = member.key is None
        if node.form is Form.FLOW and not piece.is_scalar and piece.slots and (node.members or piece.node is not node):
            self._add(node.start, node.end, self._brackets.anew(piece, node))
            return
        block = self._writer.value(piece, column, in_list=in_list, like=node, item=self._item_width(member))
        emptied = piece.node is node  # then the comments at its end are about nothing that went
        behind = self._source.line_end(node.end) if emptied else self._source.behind(node.end, column)
        self._put(block, node, head, behind)

    def _put(self, block: Block, node: Node, head: int, below: int) -> None:
        """`block` in the place of what stands behind a key's colon or a dash (`head`). `below`: where a block ends."""
        lines = "".join(self._newline + line for line in block.lines)
        space = " " + block.first if block.first else ""
        if node.form in _TEXTS:
            header = _HEADER.match(self._text, node.start)
            assert header is not None
            behind = self._source.line_end(node.start)
            if block.first:
                self._add(node.start, header.end(), block.first)
            else:
                self._add(head, header.end(), "")
            self._add(behind, max(behind, node.end), lines)
        elif node.form is Form.BLOCK:
            behind = self._source.line_end(head)
            if behind > node.start:  # it begins in the line of the dash
                self._add(node.start, below, block.first + lines)
            else:
                self._add(head, head, space)
                self._add(behind, below, lines)
        else:
            below = self._source.line_end(head)
            if not block.first and node.start > below:  # a comment behind the key stays there
                self._add(below, self._source.line_end(node.end), lines)
                return
            if node.start == node.end or not block.first:
                self._add(head if not block.first else node.start, node.end, space)
            else:
                self._add(node.start, node.end, block.first)
            behind = self._source.line_end(node.end)
            self._add(behind, behind, lines)

    def _colon(self, member: Member) -> int:
        """Behind the colon of a key."""
        colon = _COLON.match(self._text, member.head_end)
        if colon is None or self._source.before(member.start).rstrip().endswith("?"):
            raise Unclean("a key written with `? `", member.start, "write it as `key: value`")
        return colon.end()

    # Entries of a block

    def _block(self, piece: Piece, node: Node) -> None:
        assert node.members
        old, slots = node.members, piece.slots
        for member in old:
            if member.key is not None:
                self._colon(member)
        places = {id(member): place for place, member in enumerate(old)}
        known = [(slot, places[id(slot.origin)]) for slot in slots if id(slot.origin) in places]
        staying = {place: slot for slot, place in longest_rising(known, lambda pair: pair[1])}
        column = self._source.column(old[0].start)
        item = self._item_width(old[0])
        for place, slot in staying.items():
            self._slot(slot, old[place], column)
        before, groups = self._groups(slots, {id(slot): place for place, slot in staying.items()})
        if not staying:
            lines = self._writer.entries(slots, column, item=item)
            self._add(old[0].start, self._source.behind(node.end, column), self._newline.join(lines)[column:])
            return
        first = min(staying)
        compact = bool(self._source.before(old[0].start).strip())
        if compact and (before or first > 0):
            self._compact_start(old, first, self._writer.entries(before, column, item=item), column)
        else:
            if before:
                start = self._above(node, old[first]) if first == 0 else self._source.leading(old[first].start)
                lines = self._writer.entries(before, column, item=item)
                self._add(start, start, "".join(line + self._newline for line in lines))
            for place in range(first):
                self._drop(node, old, place, column)
        for place, group in groups.items():
            behind = self._source.behind(old[place].value.end, column)
            lines = self._writer.entries(group, column, item=item)
            self._add(behind, behind, "".join(self._newline + line for line in lines))
        for place in range(first + 1, len(old)):
            if place not in staying:
                self._drop(node, old, place, column)

    def _groups(self, slots: list[Slot], staying: dict[int, int]) -> tuple[list[Slot], dict[int, list[Slot]]]:
        """New entries: those before the first that stays, and those behind each that does."""
        before: list[Slot] = []
        groups: dict[int, list[Slot]] = {}
        current = before
        for slot in slots:
            if id(slot) in staying:
                current = groups.setdefault(staying[id(slot)], [])
            else:
                current.append(slot)
        return before, {place: group for place, group in groups.items() if group}

    def _compact_start(self, old: list[Member], first: int, lines: list[str], column: int) -> None:
        """The first entries of a block that begins in the line of a dash: `first` of them go, `lines` come."""
        start, next_start = old[0].start, old[first].start
        text = self._newline.join(lines)[column:]
        if first == 0:
            self._add(start, start, text + self._newline + " " * column)
            return
        gone = self._source.behind(old[first - 1].value.end, column)
        if text:
            self._add(start, gone, text)
        elif self._source.comments(gone, next_start):
            before = self._source.before(start)
            self._add(start - (len(before) - len(before.rstrip())), gone, "")
        else:
            self._add(start, next_start, "")

    def _above(self, node: Node, member: Member) -> int:
        """Where lines go that come before the first entry. The comment at the head of a document stays there."""
        return self._source.line_start(member.start) if self._is_root(node) else self._source.leading(member.start)

    def _is_root(self, node: Node) -> bool:
        return any(document.root is node for document in self._source.documents)

    def _drop(self, node: Node, old: list[Member], place: int, column: int) -> None:
        """The lines of an entry go, and of two empty places around it one."""
        source, text = self._source, self._text
        member = old[place]
        start = self._above(node, member) if place == 0 else source.leading(member.start)
        end = source.behind(member.value.end, column)
        below = source.next_line(end)
        if place == 0 and self._is_root(node):
            self._add(start, below, "")
            return
        if place == len(old) - 1 or below == len(text) or self._is_blank(below):
            above = old[place - 1].value.end if place else node.start - 1
            start = source.without_blanks(start, above)
        # With the line break before it: what comes behind it is put at the end of its last line.
        self._add(source.line_end_before(start), end, "")

    def _is_blank(self, at: int) -> bool:
        return at >= 0 and not self._text[self._source.line_start(at) : self._source.line_end(at)].strip()

    def _item_width(self, member: Member) -> int:
        """From a dash to what is in the item, in the same line."""
        if member.key is not None or self._text[member.head_end : member.value.start].strip(" "):
            return 2
        if member.value.start == member.value.end:
            return 2
        return max(2, member.value.start - member.start)

    def _add(self, start: int, end: int, text: str) -> None:
        if end > start or text:
            self.splices.append(Splice(start, end, text))
