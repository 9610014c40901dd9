"""The error tree.

    InstantStartError
    ├── RetryLater            it may pass by itself: back off, say why
    │   ├── Refused           the server certainly did nothing (throttled, conflict, connection refused, expired token)
    │   ├── LostReply         nobody knows whether it happened: look before anything else
    │   ├── Unavailable       what we need to answer does not answer now
    │   └── TooMany           asked too often: wait `after` seconds
    └── StopUntilChange       it will not pass until git changes or an order comes
        ├── Unauthorized      nobody knows who asks
        ├── Forbidden         it is known who asks, and that they may not
        ├── Conflict          somebody else, or a newer state, is in the way; says who and what
        │   └── Stale         what was asked for was built on a state that is no longer there
        └── InvalidInput      what was given is wrong: says where, what was expected and what to do
            ├── Unseen        it does not say which state it is meant for
            ├── NotFound      it names what is not there
            ├── Gone          it names what was there and is over
            └── TooLarge      more than is taken at once

Every error carries a CamelCase `reason` for machines and a message for people. Messages are cut and redacted
where they are made (`live`), so they may go into notes and logs as they are. Faces tell them apart by these classes:
a new error gives its meaning (an HTTP status, an exit code) by what it is derived from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Flaw:
    """One thing that is wrong in what was given. `where`: file:line:column, a JSON pointer, or a field's path."""

    where: str
    expected: str
    found: str
    hint: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldConflict:
    """A field that two changed. `path`: of the file; `document`: its identity, such as InstanceGroup/workers;
    `field`: a JSON pointer in it; `by` and `at` (UTC): who changed it meanwhile and when, in `commit`. A value that
    is not there is None."""

    path: str
    document: str
    field: str
    base: Any = None
    yours: Any = None
    theirs: Any = None
    by: str = ""
    at: str = ""
    commit: str = ""


class InstantStartError(Exception):
    """Base of everything we raise on purpose. `flaws`: each thing that is wrong, where there are several or where
    machines should find the place; `way_out`: what a person can do now, if the message does not say it."""

    def __init__(
        self, message: str, *, reason: str | None = None, flaws: Sequence[Flaw] = (), way_out: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or type(self).__name__
        self.flaws = tuple(flaws)
        self.way_out = way_out


class RetryLater(InstantStartError):
    """It may pass by itself. `after`: seconds the other side asked us to wait, if it did."""

    def __init__(self, message: str, *, reason: str | None = None, after: float | None = None) -> None:
        super().__init__(message, reason=reason)
        self.after = after


class Refused(RetryLater):
    """The server certainly did nothing; the same call may be sent again later."""


class LostReply(RetryLater):
    """5xx, time-out or reset: the effect may or may not have happened."""


class StopUntilChange(InstantStartError):
    """Nothing but a change in git or a person's order will help."""


class InvalidInput(StopUntilChange):
    """A person's input is wrong; the message says where, what was expected and what to do."""


class Unavailable(RetryLater):
    """What is needed to answer (a remote, a cloud, the first tick) does not answer now."""


class TooMany(RetryLater):
    """Asked too often."""


class Unauthorized(StopUntilChange):
    """Nobody knows who asks: no token, session or link, or one that is over."""


class Forbidden(StopUntilChange):
    """It is known who asks, and that they may not."""


class Conflict(StopUntilChange):
    """Somebody else, or a newer state, is in the way. `conflicts`: the fields, if it is about fields."""

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        conflicts: Sequence[FieldConflict] = (),
        flaws: Sequence[Flaw] = (),
        way_out: str = "",
    ) -> None:
        super().__init__(message, reason=reason, flaws=flaws, way_out=way_out)
        self.conflicts = tuple(conflicts)


class Stale(Conflict):
    """It was built on a state (If-Match) that is no longer there: read again."""


class Unseen(InvalidInput):
    """It must name the state that was seen (If-Match), and names none."""


class NotFound(InvalidInput):
    """It names what is not there."""


class Gone(InvalidInput):
    """It names what was there and is over."""


class TooLarge(InvalidInput):
    """More than is taken at once; the message names the limit."""
