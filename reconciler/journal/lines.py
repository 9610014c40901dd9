"""Text of journal lines: one compact ASCII JSON object each, keys in a fixed order, a hard limit on length.

Whoever writes a line gives everything but `seq`, `roll` and `at`; a `Pen` adds those and hands out the text. A
line that would be too long loses its longest free text, never a fact; one that still does not fit is our fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

from pydantic import ValidationError

from schemas.journal import LINE, MAX_LINE, MAX_ROLLOUT, VERSION, Line
from schemas.secrets import mask_secrets

HEAD = ("at", "say", "v", "seq", "roll", "t")  # of every line, in this order; the pen writes them
_CANONICAL = re.compile(
    r'\{"at":"[^"\\]*","say":"(?:[^"\\]|\\.)*+","v":[0-9]+,"seq":(?P<seq>[0-9]{1,18}),"roll":[0-9]+,"t":"(?P<t>[a-z]+)"[,}]'
)
_FREE_TEXT = ("msg", "detail", "why", "say")
_SAY = 120
_MSG = 500
_DIGESTS = 1300  # bytes of an op's line for the digests of its actions


class BrokenLine(ValueError):
    """A line that is no journal line. Broken lines are reported, never skipped."""


class Pen:
    """Writes the lines of one cluster: counts `seq`, knows the rollout, stamps the time."""

    def __init__(self, seq: int, roll: int, now: Callable[[], str]) -> None:
        self.seq = seq
        self.roll = roll
        self._now = now
        self.lines: list[tuple[str, str]] = []  # (annotated revision, text) in order

    def write(self, revision: str, t: str, say: str, **fields: Any) -> dict[str, Any]:
        """Add one line to the note of `revision`; returns it as read back."""
        if t == "rollout":
            self.roll += 1
        self.seq += 1
        head: dict[str, Any] = {
            "at": self._now(),
            "say": _told(say, _SAY),
            "v": VERSION,
            "seq": self.seq,
            "roll": self.roll,
            "t": t,
        }
        body = {
            key: _told(str(value), _MSG) if key in _FREE_TEXT else value
            for key, value in fields.items()
            if value is not None
        }
        text = fit({**head, **body}, MAX_ROLLOUT if t == "rollout" else MAX_LINE)
        self.lines.append((revision, text))
        return cast("dict[str, Any]", json.loads(text))


def parse(text: str) -> Line | None:
    """One line. None: a line of a kind we do not know (a newer writer's). Raises BrokenLine."""
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BrokenLine(f"not JSON: {_quoted(text)}") from error
    raw = cast("dict[str, Any]", found if isinstance(found, dict) else {})
    if "t" not in raw or type(raw.get("seq")) is not int or raw["seq"] < 1:
        raise BrokenLine(f"not a journal line: {_quoted(text)}")
    try:
        return cast("Line", LINE.validate_python(raw))
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "union_tag_invalid":
            return None
        if type(raw.get("v")) is int and raw["v"] > VERSION:
            raise BrokenLine(newer(raw["seq"], raw["v"])) from error
        where = ".".join(str(part) for part in first["loc"])
        raise BrokenLine(f"seq {raw['seq']}: {shorten(where, 40)}: {shorten(first['msg'], 80)}") from error


def newer(seq: int, version: int) -> str:
    return f"seq {seq} is of version {shorten(str(version), 20)}; this program writes {VERSION}"


def numbered(text: str) -> tuple[int, str]:
    """Number and kind of a line. One that begins as a `Pen` writes them is not read further; any other is. Raises
    BrokenLine."""
    match = _CANONICAL.match(text)
    if match is not None and text.endswith("}"):
        return int(match["seq"]), match["t"]
    line = parse(text)
    if line is not None:
        return line.seq, line.t
    raw = json.loads(text)
    return int(raw["seq"]), str(raw["t"])


def abbreviated(digests: Sequence[str]) -> list[str]:
    """Action digests as an op's line keeps them: whole, or, where one call serves so many that they would not fit,
    their beginnings. They only tell an action of the same plan from the others: see `OpRecord.serves`."""
    length = max(6, min(64, _DIGESTS // max(len(digests), 1) - 3))
    return [text[:length] for text in digests]


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters on one line, cut at the end with three dots."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 3].rstrip() + "..."


def _quoted(text: str) -> str:
    """What somebody wrote there, harmless to show."""
    return mask_secrets(shorten(text.encode("ascii", "backslashreplace").decode(), 60))


def fit(line: dict[str, Any], limit: int) -> str:
    text = json.dumps(line, separators=(",", ":"), ensure_ascii=True)
    for name in _FREE_TEXT:
        if len(text) <= limit:
            return text
        if isinstance(line.get(name), str):
            line = {**line, name: _told(line[name], 60)}
            text = json.dumps(line, separators=(",", ":"), ensure_ascii=True)
    if len(text) > limit:
        raise ValueError(f"a journal line of {len(text)} bytes (at most {limit}): {text[:120]}")
    return text


def _told(text: str, limit: int) -> str:
    """Free text without secrets, for which the note would be refused. Cutting must neither show half of one nor make
    what looks like one, and the note is judged as the JSON that it is."""
    text = mask_secrets(shorten(mask_secrets(text), limit))
    return str(json.loads(mask_secrets(json.dumps(text))))
