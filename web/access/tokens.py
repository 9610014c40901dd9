"""Bearer tokens: `is_` and 256 random bits. Only the sha256 is kept, so a token is shown once and never again.

A token of that length needs no slow hash: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from ulid import ULID

from reconciler.live.clock import real_now
from schemas.errors import InvalidInput, NotFound
from schemas.lookalikes import lookalike
from schemas.principals import AGENT_SCOPES, INVISIBLE, Kind, Principal, Scope, in_order
from schemas.reach import EVERYTHING, Reach
from web.access.files import Records

PREFIX = "is_"
LONGEST = timedelta(days=366)
KEEP_USE = timedelta(minutes=10)  # between two writes of when a token was last used
_NAME = re.compile(r"[^\x00-\x1f\x7f<>]{1,200}")


class TokenRecord(BaseModel):
    """What is kept of a token. Times are UTC; `expires` None: never; `last_used` is right to ten minutes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    digest: str
    name: str
    kind: Kind
    scopes: tuple[Scope, ...]
    created: datetime
    created_by: str
    expires: datetime | None = None
    last_used: datetime | None = None
    reach: Reach = EVERYTHING

    def principal(self) -> Principal:
        """An agent works for whoever made its token."""
        return Principal(
            name=self.name,
            kind=self.kind,
            scopes=frozenset(self.scopes),
            via="token",
            on_behalf_of=self.created_by if self.kind == "agent" else "",
            id=self.id,
            reach=self.reach,
        )


class Tokens:
    """`now`: real time, UTC."""

    def __init__(self, folder: Path, *, now: Callable[[], datetime] = real_now) -> None:
        self._records = Records(folder / "tokens.json", TokenRecord)
        self._now = now
        self._used: dict[str, datetime] = {}
        self._kept = now()

    def create(
        self,
        *,
        name: str,
        kind: Kind,
        scopes: frozenset[Scope],
        created_by: str,
        life: timedelta | None,
        reach: Reach = EVERYTHING,
    ) -> tuple[str, TokenRecord]:
        """A new token, in clear this once, and what is kept of it. Raises InvalidInput."""
        name = checked_name(name)
        if not scopes:
            raise InvalidInput("a token without any scope can do nothing; name at least read", reason="NoScopes")
        if kind == "agent" and (more := scopes - AGENT_SCOPES):
            text = f"a token of an agent never holds {', '.join(in_order(more))}: a person decides that"
            raise InvalidInput(text, reason="AgentScopes")
        if life is not None and not timedelta(0) < life <= LONGEST:
            raise InvalidInput(f"a token lives at most {LONGEST.days} days, and more than none", reason="BadExpiry")
        token = PREFIX + secrets.token_urlsafe(32)
        now = self._now()
        record = TokenRecord(
            id=str(ULID()).lower(),
            digest=digest_of(token),
            name=name,
            kind=kind,
            scopes=tuple(in_order(scopes)),
            created=now,
            created_by=created_by,
            expires=None if life is None else now + life,
            reach=reach,
        )
        with self._records.changing() as records:
            records[record.digest] = record
        return token, record

    def all(self) -> list[TokenRecord]:
        """Oldest first; those that are over too, until they are revoked."""
        found = [self._with_use(record) for record in self._records.all().values()]
        return sorted(found, key=lambda record: record.id)

    def exist(self) -> bool:
        return bool(self._records.all())

    def revoke(self, id: str) -> TokenRecord:
        """Raises NotFound. Counts from the next request on, in every process."""
        with self._records.changing() as records:
            found = next((record for record in records.values() if record.id == id.lower()), None)
            if found is None:
                raise NotFound(f"there is no token {id!r}", reason="UnknownToken")
            del records[found.digest]
        return found

    def find(self, token: str) -> Principal | None:
        """Whose it is; None: nobody's, or its time is over."""
        if not token.startswith(PREFIX) or len(token) > 100:
            return None
        record = self._records.all().get(digest_of(token))
        now = self._now()
        if record is None or (record.expires is not None and record.expires <= now):
            return None
        self._used[record.digest] = now
        if now - self._kept > KEEP_USE:
            self.keep_use()
        return record.principal()

    def living(self, id: str) -> TokenRecord | None:
        """The token with this id; None: it was revoked, or its time is over."""
        now = self._now()
        found = next((record for record in self._records.all().values() if record.id == id), None)
        return None if found is None or (found.expires is not None and found.expires <= now) else found

    def keep_use(self) -> None:
        """Write when each was last used: not at every request, so that reading writes nothing."""
        self._kept = self._now()
        used, self._used = self._used, {}
        if not used:
            return
        with self._records.changing() as records:
            for digest, at in used.items():
                known = records.get(digest)
                if known is not None and (known.last_used is None or known.last_used < at):
                    records[digest] = known.model_copy(update={"last_used": at})

    def _with_use(self, record: TokenRecord) -> TokenRecord:
        used = self._used.get(record.digest)
        return record if used is None else record.model_copy(update={"last_used": used})


def checked_name(name: str) -> str:
    """A principal's name. Raises InvalidInput: it goes into commit trailers and must stay one line of them."""
    stripped = name.strip()
    if not _NAME.fullmatch(stripped) or any(unicodedata.category(char) in INVISIBLE for char in stripped):
        text = "a name has 1 to 200 characters, without line ends, control and invisible characters, < and >"
        raise InvalidInput(text, reason="BadName")
    taken_for = lookalike(stripped)
    if taken_for is not None:
        text = f"the name {stripped!a} would be taken for {taken_for}: letters of different scripts that look alike"
        raise InvalidInput(text, reason="MisleadingName", way_out="write each part of the name in one script")
    return stripped


def has_form(text: str) -> bool:
    """Whether it can be a token; a link's code is shorter, whatever it begins with."""
    return text.startswith(PREFIX) and len(text) == len(PREFIX) + 43


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
