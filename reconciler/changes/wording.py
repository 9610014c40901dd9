"""Messages of commits: what was wanted and why, and trailers for readers. Nothing is ever decided by a trailer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from schemas.principals import Principal

_TRAILER: Final = re.compile(r"^(?=[A-Za-z0-9-]+-(?:id|by|of)\s*:)", re.IGNORECASE | re.MULTILINE)
_BREAK: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def message(title: str, why: str, trailers: Iterable[tuple[str, str]]) -> str:
    """What people wrote can look like no trailer."""
    words = _TRAILER.sub("  ", why.strip().replace("\r", ""))
    told = "\n".join(f"{name}: {_BREAK.sub(' ', value).strip()}" for name, value in trailers if value.strip())
    return "\n\n".join(part for part in (_BREAK.sub(" ", title), words, told) if part)


def author(who: Principal) -> tuple[str, str]:
    """Name and address of a commit's author."""
    name = _BREAK.sub(" ", who.name).strip()
    return (name.split("@", 1)[0] or name, name) if "@" in name else (name, "")


def proposed_by(change: str, by: str, behalf: str) -> list[tuple[str, str]]:
    return [("Change-Id", change), ("Proposed-by", by), ("On-behalf-of", behalf)]
