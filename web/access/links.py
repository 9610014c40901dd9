"""One-time log-in links, made by whoever may read the state directory: the machine's own person.

The code stands in the fragment, which a browser sends to nobody; the page behind the link hands it to POST /session.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from reconciler.live.clock import real_now
from schemas.errors import InvalidInput
from schemas.principals import ALL_SCOPES, Scope, in_order
from web.access.files import Records
from web.access.tokens import checked_name, digest_of

LIFE: Final = timedelta(minutes=10)


class LinkRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    scopes: tuple[Scope, ...]
    expires: datetime


class Links:
    """`now`: real time, UTC."""

    def __init__(self, folder: Path, *, now: Callable[[], datetime] = real_now) -> None:
        self._records = Records(folder / "links.json", LinkRecord)
        self._now = now

    def make(self, *, name: str, scopes: frozenset[Scope] = ALL_SCOPES) -> str:
        """A code for a person, good for ten minutes and one use. Raises InvalidInput."""
        if not scopes:
            raise InvalidInput("a session without any scope can do nothing; name at least read", reason="NoScopes")
        code = secrets.token_urlsafe(32)
        record = LinkRecord(name=checked_name(name), scopes=tuple(in_order(scopes)), expires=self._now() + LIFE)
        with self._records.changing() as records:
            self._drop_old(records)
            records[digest_of(code)] = record
        return code

    def take(self, code: str) -> LinkRecord | None:
        """Whom a code is for, once; None: nobody, used already, or too late."""
        with self._records.changing() as records:
            self._drop_old(records)
            return records.pop(digest_of(code), None)

    def _drop_old(self, records: dict[str, LinkRecord]) -> None:
        now = self._now()
        for key in [key for key, known in records.items() if known.expires <= now]:
            del records[key]


def link(base: str, code: str) -> str:
    return f"{base}/login#{code}"
