"""A problem: where, what was expected, what was found, and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, cast

from schemas.reading.records import Path, Spot
from schemas.secrets import find_secrets, is_secret_name, mask, mask_secrets

_LONGEST: Final = 60
_PLACEHOLDER = re.compile(r"\$\{[^}]{0,100}\}?|\$[A-Za-z_][A-Za-z0-9_]*|\{\{.{0,100}?\}\}|<[A-Za-z_][^<>]{0,100}>")


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One thing that is wrong in a file. Lines and columns count from 1; `field` is empty for the file as a whole."""

    file: str
    line: int
    column: int
    field: str
    expected: str
    found: str
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}: "
        what = f"expected {self.expected}, got {self.found}"
        return where + (f"{self.field}: " if self.field else "") + what + (f" ({self.hint})" if self.hint else "")


def problem(file: str, spot: Spot, path: Path, *, expected: str, found: str, hint: str = "") -> Problem:
    """A problem at a spot; `path` is shown as people write it.

    A secret may stand anywhere, in the name of a file or a field too: whatever is said, it is not in it.
    """
    return Problem(
        file=mask_secrets(file),
        line=spot.line,
        column=spot.column,
        field=mask_secrets(shown_path(path)),
        expected=expected,
        found=mask_secrets(found),
        hint=mask_secrets(hint),
    )


def shown_path(path: Path) -> str:
    """spec.taints[0].key"""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif re.fullmatch(r"[A-Za-z0-9_-]+", step):
            text += f".{step}" if text else step
        else:
            text += f"[{_cut(step)!r}]"
    return text


def shown_value(value: Any, *, written: str | None = None, path: Path = ()) -> str:
    """A value in words, short, and never a secret. `written`: how a number stands in the file."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {written or value}"
        case str():
            return _shown_text(value, path)
        case list() | tuple():
            length = len(cast("list[Any]", value))
            return "an empty list" if not length else f"a list of {length}"
        case dict():
            return "a mapping" if value else "an empty mapping"
        case _:
            return "something else"


def placeholder_in(value: object) -> str | None:
    """The variable or placeholder that a text still holds: ${VAR}, $VAR, {{ x }}, <name>."""
    if not isinstance(value, str):
        return None
    match = _PLACEHOLDER.search(value)
    return match.group() if match else None


def _shown_text(value: str, path: Path) -> str:
    if value == "":
        return "empty text"
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    if find_secrets(value) or (is_secret_name(name) and not placeholder_in(value)):
        return mask(value)
    return f'"{_cut(value)}"'


def _cut(text: str) -> str:
    printable = "".join(character if character.isprintable() else "�" for character in text[: _LONGEST + 1])
    return printable if len(printable) <= _LONGEST else printable[: _LONGEST - 1] + "…"
