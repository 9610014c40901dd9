"""The error tree of `schemas.errors` with what a server told us: its code, our operation, the HTTP status.

Handlers catch the classes of the tree, plus two that carry a meaning of their own: `NotFound` and `AlreadyExists`.
Both are refusals: the server certainly did nothing, and looking again decides what is next.
"""

from __future__ import annotations

from typing import Self

from schemas.errors import LostReply, Refused, StopUntilChange


class Told:
    """What the server told: `code` in its own words ("ResourceInUse"), `operation` as "eks:CreateCluster"."""

    code: str = ""
    operation: str = ""
    status: int = 0

    def told(self, *, code: str, operation: str, status: int = 0) -> Self:
        self.code, self.operation, self.status = code, operation, status
        return self


class CallRefused(Told, Refused):
    """Nothing happened, and it may pass: throttled, conflict, not connected, expired token."""


class ReplyLost(Told, LostReply):
    """5xx, time-out or reset: it may have happened."""


class CallRejected(Told, StopUntilChange):
    """Nothing happened, and the same call will never pass."""


class NotFound(Told, Refused):
    """The server certainly says that the thing (or a thing it needs) is not there."""


class AlreadyExists(Told, Refused):
    """A thing of that name is there already; looking says whose it is."""


CallError = CallRefused | ReplyLost | CallRejected | NotFound | AlreadyExists
"""What a call may raise; every one of them is an `InstantStartError`."""
