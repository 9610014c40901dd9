"""Lines of a log as text that is safe to show: control sequences and secrets are taken out. What a program wrote is
data; nothing here, and nobody behind it, reads an instruction in it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reconciler.live.redaction import redact
from schemas.secrets import HIDDEN
from schemas.terminals import ESCAPES

LONGEST_KEY = 200  # lines of a private key; a beginning without an end hides no more than that

_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----")
_KEY_ENDS = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY-----")
# A line inside of a key, for a reader that began there; hexadecimal digests are none.
_KEY_BODY = re.compile(r"(?=.*[+/A-Z])(?=.*[a-z])[A-Za-z0-9+/]{64}(?:[A-Za-z0-9+/]{12})?={0,2}")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class Line:
    """`at`: RFC 3339 with nine digits of a second, so that times compare as text; "" if the line had none."""

    at: str
    text: str


def plain(text: str) -> str:
    """Without escape sequences, control characters and characters that turn the direction of writing."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROLS.sub("", ESCAPES.sub("", text.replace("\r", "")))


def stamped(raw: bytes) -> tuple[str, str]:
    """(time, rest) of a line as Kubernetes gives it with timestamps."""
    head, _, rest = raw.decode("utf-8", "replace").partition(" ")
    found = _STAMP.fullmatch(head)
    if found is None:
        return "", f"{head} {rest}" if rest else head
    second, part, zone = found.groups()
    if zone != "Z":
        return "", rest
    return f"{second}.{(part or '').ljust(9, '0')}Z", rest


class Cleaner:
    """Cleans the lines of one log in order; remembers that it stands inside of a private key."""

    def __init__(self) -> None:
        self._key = 0

    def clean(self, lines: Iterable[tuple[str, str]]) -> list[Line]:
        pairs = [(at, plain(text)) for at, text in lines]
        shown = self._without_keys([text for _, text in pairs])
        return [Line(at, text) for (at, _), text in zip(pairs, _without_secrets(shown), strict=True)]

    def _without_keys(self, texts: Sequence[str]) -> list[str]:
        """A private key takes many lines, and only the first looks like one."""
        found: list[str] = []
        for text in texts:
            inside = self._key > 0
            if _KEY_BEGINS.search(text):
                self._key, inside = LONGEST_KEY, True
            if inside and (_KEY_ENDS.search(text) or self._key == 1):
                self._key = 0
            elif self._key:
                self._key -= 1
            found.append(HIDDEN if inside or _KEY_BODY.fullmatch(text) else text)
        return found


def _without_secrets(texts: Sequence[str]) -> list[str]:
    """Looking once at many lines costs a part of looking at each; only where something is found each is looked at."""
    together = "\n".join(texts)
    cleaned = redact(together)
    if cleaned == together:
        return list(texts)
    parts = cleaned.split("\n")
    return parts if len(parts) == len(texts) else [redact(text) for text in texts]
