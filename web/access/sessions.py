"""Browser sessions: a person who came by a one-time link, for twelve hours.

The cookie holds a random id, signed; who that is stands on our side, so that a session can be ended. Its name holds the
port, because browsers share cookies between the ports of a host.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from itsdangerous import BadSignature, URLSafeSerializer
from pydantic import BaseModel, ConfigDict
from ulid import ULID

from reconciler.live.clock import real_now
from schemas.principals import Principal, Scope, in_order, same
from schemas.reach import EVERYTHING, Reach
from web.access.files import Records, key_in
from web.access.tokens import digest_of

LIFE: Final = timedelta(hours=12)
COOKIE: Final = "instantstart_session"


class SessionRecord(BaseModel):
    """What is kept of a session. Times are UTC. `token`: the id of the token it was begun with, and ends with; empty:
    it was begun by a link."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    name: str
    scopes: tuple[Scope, ...]
    created: datetime
    expires: datetime
    token: str = ""
    reach: Reach = EVERYTHING

    def principal(self) -> Principal:
        scopes = frozenset(self.scopes)
        return Principal(name=self.name, kind="person", scopes=scopes, via="session", id=self.id, reach=self.reach)


class Sessions:
    """`now`: real time, UTC."""

    def __init__(self, folder: Path, *, now: Callable[[], datetime] = real_now) -> None:
        self._records = Records(folder / "sessions.json", SessionRecord)
        self._signer = URLSafeSerializer(key_in(folder, "cookie.key"), salt="instantstart-session")
        self._now = now

    def begin(
        self,
        *,
        name: str,
        scopes: frozenset[Scope],
        token: str = "",
        until: datetime | None = None,
        reach: Reach = EVERYTHING,
    ) -> tuple[str, SessionRecord]:
        """A new session: the cookie's value, and what is kept. `until`: the end of its token, if it has one."""
        secret = secrets.token_urlsafe(32)
        now = self._now()
        record = SessionRecord(
            id=str(ULID()).lower(),
            name=name,
            scopes=tuple(in_order(scopes)),
            created=now,
            expires=now + LIFE if until is None else min(now + LIFE, until),
            token=token,
            reach=reach,
        )
        with self._records.changing() as records:
            for key in [key for key, known in records.items() if known.expires <= now]:
                del records[key]
            records[digest_of(secret)] = record
        signed = self._signer.dumps(secret)
        return str(signed), record

    def find(self, cookie: str) -> SessionRecord | None:
        """Whose session it is; None: nobody's, forged, ended, or its time is over."""
        key = self._key(cookie)
        record = self._records.all().get(key) if key is not None else None
        return record if record is not None and record.expires > self._now() else None

    def exist(self) -> bool:
        return any(record.expires > self._now() for record in self._records.all().values())

    def end(self, id: str) -> None:
        """End one. One that is not there is ended already."""
        with self._records.changing() as records:
            for key in [key for key, known in records.items() if known.id == id]:
                del records[key]

    def end_all(self, name: str) -> int:
        """End every session of a person; returns how many."""
        with self._records.changing() as records:
            keys = [key for key, known in records.items() if same(known.name, name)]
            for key in keys:
                del records[key]
        return len(keys)

    def _key(self, cookie: str) -> str | None:
        if len(cookie) > 500:
            return None
        try:
            secret = self._signer.loads(cookie)
        except BadSignature:
            return None
        return digest_of(secret) if isinstance(secret, str) else None


def cookie_name(host: str) -> str:
    """By the Host header's port: what the browser thinks it talks to, also where a port is forwarded."""
    _, colon, port = host.rpartition(":")
    return f"{COOKIE}_{port if colon and port.isascii() and port.isdecimal() else '80'}"
