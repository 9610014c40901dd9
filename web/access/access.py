"""Everything about who may in, as one thing that the house holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from reconciler.live.clock import real_now
from schemas.errors import Forbidden
from schemas.principals import Principal
from web.access.files import folder_of
from web.access.limits import Limits, Rates
from web.access.links import Links
from web.access.sessions import SessionRecord, Sessions
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
        if found is None or (found.token and self.tokens.living(found.token) is None):
            return None
        return found.principal()

    def begin_by_link(self, code: str) -> tuple[str, SessionRecord] | None:
        """A session, and the cookie of it, for whom a one-time code is; None: nobody, used already, or too late."""
        link = self.links.take(code)
        return None if link is None else self.sessions.begin(name=link.name, scopes=frozenset(link.scopes))

    def begin_by_token(self, token: str) -> tuple[str, SessionRecord] | None:
        """A session that holds what a person's token holds and ends with it; None: the token lets nobody in. Raises
        Forbidden for one of an agent."""
        who = self.tokens.find(token)
        record = self.tokens.living(who.id) if who is not None else None
        if who is None or record is None:
            return None
        if who.is_agent:
            text = "this token is an agent's, and a browser's session is a person's"
            raise Forbidden(text, reason="AgentsHaveNoSession", way_out="run instantstart login-link for yourself")
        until, reach = record.expires, who.reach
        return self.sessions.begin(name=who.name, scopes=who.scopes, token=who.id, until=until, reach=reach)

    def is_new(self) -> bool:
        """Nobody can come in yet."""
        return not self.tokens.exist() and not self.sessions.exist()

    def close(self) -> None:
        self.tokens.keep_use()
