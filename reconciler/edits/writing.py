"""New text: values as lines in the manner of the file, and entries that were moved as they were written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reconciler.edits import scalars
from reconciler.edits.pieces import Piece, Slot
from reconciler.edits.source import Habits, Source
from schemas.reading.outline import Form, Member, Node

_DIGIT = re.compile(r"[|>][-+]?[0-9]")
_ITEM: Final = 2  # from an item's `-` to what is in it


class CannotWrite(ValueError):
    """There is no clean way to write it here. `hint`: what to do instead."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Unclean(ValueError):
    """The text is written in a way that these edits do not know. `at`: where."""

    def __init__(self, message: str, at: int, hint: str = "") -> None:
        super().__init__(message)
        self.at, self.hint = at, hint


@dataclass(frozen=True, kw_only=True)
class Block:
    """A value in block style: what stands behind `key:` or `-`, and the whole lines below."""

    first: str = ""
    lines: tuple[str, ...] = ()


class BlockWriter:
    """Writes values as lines. `carry`: entries that come from a text are taken over with their comments."""

    def __init__(self, habits: Habits, *, carry: bool) -> None:
        self._habits = habits
        self._carry = carry

    def entries(self, slots: list[Slot], column: int, *, item: int = _ITEM) -> list[str]:
        """The lines of entries whose keys or dashes stand in `column`. `item`: the width of `- ` there."""
        lines: list[str] = []
        for slot in slots:
            lines += self.entry(slot, column, item=item)
        return lines

    def entry(self, slot: Slot, column: int, *, item: int = _ITEM) -> list[str]:
        """The lines of one entry."""
        if self._carry and (carried := _carried(slot, column)):
            return carried
        head = self.key(slot.key) + ":" if slot.key is not None else "-"
        block = self.value(slot.piece, column, in_list=slot.key is None, item=item)
        space = " " * (item - 1) if slot.key is None else " "
        return [(" " * column + head + (space + block.first if block.first else "")), *block.lines]

    def key(self, key: str, like: Form | None = None) -> str:
        """A key without its colon."""
        text = scalars.yaml_key(key, like=like, quote=self._habits.quote)
        if text is None:
            raise CannotWrite("a key of more than 1000 characters", "use a shorter key")
        return text

    def value(self, piece: Piece, column: int, *, in_list: bool, like: Node | None = None, item: int = _ITEM) -> Block:
        """A value whose key or dash stands in `column`. `like`: the scalar whose place it takes."""
        if piece.is_scalar:
            written = scalars.yaml_scalar(piece.value, like=like or piece.node, quote=self._habits.quote, flow=False)
            deeper = column + (2 if _DIGIT.match(written.first) and written.lines else self._habits.step)
            return Block(
                first=written.first, lines=tuple(" " * deeper + line if line else "" for line in written.lines)
            )
        if not piece.slots:
            return Block(first="{}" if piece.is_mapping else "[]")
        if in_list:
            lines = self.entries(piece.slots, column + item)
            return Block(first=lines[0][column + item :], lines=tuple(lines[1:]))
        inner = column + (self._habits.step if piece.is_mapping else self._habits.list_step)
        return Block(lines=tuple(self.entries(piece.slots, inner)))


def flow_text(piece: Piece, *, quote: Form, json: bool, colon: str = ": ", comma: str = ", ") -> str:
    """A value between brackets, in one line."""
    if piece.is_scalar:
        if json:
            return scalars.json_scalar(piece.value)
        return scalars.yaml_scalar(piece.value, like=piece.node, quote=quote, flow=True).first
    inner = [
        (flow_key(slot.key, quote=quote, json=json) + colon if slot.key is not None else "")
        + flow_text(slot.piece, quote=quote, json=json, colon=colon, comma=comma)
        for slot in piece.slots
    ]
    text = comma.join(inner)
    return f"{{{text}}}" if piece.is_mapping else f"[{text}]"


def flow_lines(piece: Piece, indent: str, unit: str, *, quote: Form, json: bool, newline: str) -> str:
    """A value between brackets, one entry a line. `indent`: that of the line in which it begins."""
    if piece.is_scalar or not piece.slots:
        return flow_text(piece, quote=quote, json=json)
    deeper = indent + unit
    inner = [
        deeper
        + (flow_key(slot.key, quote=quote, json=json) + ": " if slot.key is not None else "")
        + flow_lines(slot.piece, deeper, unit, quote=quote, json=json, newline=newline)
        for slot in piece.slots
    ]
    low, high = "{}" if piece.is_mapping else "[]"
    return low + newline + ("," + newline).join(inner) + newline + indent + high


def flow_key(key: str, *, quote: Form, json: bool, like: Form | None = None) -> str:
    """A key between brackets, without its colon."""
    if json:
        return scalars.json_scalar(key)
    text = scalars.yaml_key(key, like=like, quote=quote)
    if text is None:
        raise CannotWrite("a key of more than 1000 characters", "use a shorter key")
    return text


# Entries that move ---------------------------------------------------------------------------------------------------


def _carried(slot: Slot, column: int) -> list[str] | None:
    """The lines of an entry as it was written elsewhere, with its comments; None where it must be written anew."""
    source, origin, piece = slot.source, slot.origin, slot.piece
    if source is None or origin is None or source.is_json or piece.node is not origin.value or piece.touched:
        return None
    if piece.is_scalar and piece.value is not origin.value.value:
        return None
    if (origin.key is None) != (slot.key is None) or origin.key != slot.key or not is_whole_lines(source, origin):
        return None
    start, end = source.leading(origin.start), source.behind(origin.value.end, source.column(origin.start))
    delta = column - source.column(origin.start)
    lines = source.text[start:end].replace("\r\n", "\n").split("\n")
    return [_shifted(line, delta) for line in lines]


def _shifted(line: str, delta: int) -> str:
    if not line.strip():
        return ""
    if delta >= 0:
        return " " * delta + line
    return line[min(-delta, len(line) - len(line.lstrip(" "))) :]


def is_whole_lines(source: Source, member: Member) -> bool:
    """Whether an entry has its lines for itself: nothing before it, and behind it at most a comment."""
    behind = source.text[member.value.end : source.line_end(member.value.end)].strip()
    return not source.before(member.start).strip() and (not behind or behind.startswith("#"))
