"""Everything about who may in, as one thing that the house holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from reconciler.live.clock import real_now
from schemas.principals import Principal
from web.access.files import folder_of
from web.access.limits import Limits, Rates
from web.access.links import Links
from web.access.sessions import Sessions
from web.access.tokens import Tokens


class Access:
    """`state_dir`: where the files are kept; `now`: real time, UTC."""

    def __init__(self, state_dir: Path, *, now: Callable[[], datetime] = real_now, rates: Rates | None = None) -> None:
        self.folder = folder_of(state_dir)
        self.tokens = Tokens(self.folder, now=now)
        self.sessions = Sessions(self.folder, now=now)
        self.links = Links(self.folder, now=now)
        self.limits = Limits(rates)

    def by_bearer(self, token: str) -> Principal | None:
        return self.tokens.find(token)

    def by_cookie(self, cookie: str) -> Principal | None:
        found = self.sessions.find(cookie)
        return found.principal() if found is not None else None

    def is_new(self) -> bool:
        """Nobody can come in yet."""
        return not self.tokens.exist() and not self.sessions.exist()

    def close(self) -> None:
        self.tokens.keep_use()
