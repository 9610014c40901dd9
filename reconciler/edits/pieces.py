"""A document as it is to become: values that remember where they came from.

A patch is applied to this tree, step by step as RFC 6902 says. What it does not touch keeps its place in the text,
with comments, quotes and order; what it moves knows where it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from reconciler.edits.source import Source
from schemas.reading.outline import Member, Node
from schemas.values import JsonValue


class Piece:
    """One value. `node`: where it stands in `source`, None if it is new. Of a scalar with a node, `value` may differ
    from the node's: it was replaced, and is written in the same manner."""

    __slots__ = ("_slots", "is_mapping", "node", "source", "value")

    def __init__(
        self,
        *,
        node: Node | None = None,
        source: Source | None = None,
        value: JsonValue = None,
        slots: list[Slot] | None = None,
        is_mapping: bool = False,
    ) -> None:
        self.node, self.source, self.value, self._slots, self.is_mapping = node, source, value, slots, is_mapping

    @property
    def is_scalar(self) -> bool:
        return self._slots is None and (self.node is None or self.node.members is None)

    @property
    def touched(self) -> bool:
        """Whether somebody looked inside: only then may anything inside differ."""
        return self.node is None or self._slots is not None

    @property
    def slots(self) -> list[Slot]:
        """The entries of a mapping or list, in order. To be changed in place."""
        if self._slots is None:
            assert self.node is not None and self.node.members is not None
            self._slots = [
                Slot(member.key, here(member.value, self.source), member, self.source) for member in self.node.members
            ]
        return self._slots

    def data(self) -> JsonValue:
        """The value as plain JSON."""
        if self.is_scalar:
            return self.value
        if self._slots is None:
            assert self.node is not None
            return self.node.data()
        if self.is_mapping:
            return {slot.key: slot.piece.data() for slot in self._slots}
        return [slot.piece.data() for slot in self._slots]

    def find(self, key: str) -> Slot | None:
        """The entry of a mapping with this key."""
        return next((slot for slot in self.slots if slot.key == key), None)


class Slot:
    """One entry. `origin`: the entry of `source` that it was, None if it is new."""

    __slots__ = ("key", "origin", "piece", "source")

    def __init__(
        self, key: str | None, piece: Piece, origin: Member | None = None, source: Source | None = None
    ) -> None:
        self.key, self.piece, self.origin, self.source = key, piece, origin, source


def here(node: Node, source: Source | None) -> Piece:
    """What stands in the text."""
    return Piece(node=node, source=source, value=node.value, is_mapping=node.is_mapping)


def new(value: JsonValue) -> Piece:
    """What stands nowhere yet."""
    given: Any = value
    if isinstance(given, Mapping):
        mapping = cast("Mapping[str, Any]", given)
        return Piece(slots=[Slot(key, new(inner)) for key, inner in mapping.items()], is_mapping=True)
    if isinstance(given, (list, tuple)):
        return Piece(slots=[Slot(None, new(inner)) for inner in cast("Sequence[Any]", given)])
    return Piece(value=given)
