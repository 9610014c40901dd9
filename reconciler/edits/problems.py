"""What cannot be edited cleanly, and what two edited at once."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.documents.problems import problem
from schemas.errors import Conflict, FieldConflict, Flaw, InvalidInput
from schemas.reading.records import Path, Spot


class EditRefused(InvalidInput):
    """The text cannot be edited so that nothing but the wanted lines changes. Says where and what to do instead.

    `line` and `column` count from 1.
    """

    def __init__(self, path: str, spot: Spot, *, expected: str, found: str, hint: str = "", field: Path = ()) -> None:
        told = problem(path, spot, field, expected=expected, found=found, hint=hint)
        where = f"{told.file}:{told.line}:{told.column}"
        flaw = Flaw(where=where, expected=told.expected, found=told.found, hint=told.hint)
        super().__init__(str(told), reason="EditRefused", flaws=(flaw,))
        self.path, self.line, self.column = told.file, told.line, told.column
        self.expected, self.found, self.hint = told.expected, told.found, told.hint


class EditConflict(Conflict):
    """The same field was changed on both sides, to different values. `conflicts` has each with its three values; who
    and when is for those to add who know the commits."""

    def __init__(self, conflicts: Sequence[FieldConflict]) -> None:
        shown = [f"{found.document or found.path} {found.field}".rstrip() for found in conflicts]
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        super().__init__(
            f"changed on both sides: {', '.join(shown[:3])}{more}",
            reason="EditConflict",
            conflicts=conflicts,
            way_out="take one of the values, or write a third on top of theirs",
        )
