"""The error tree.

    InstantStartError
    ├── RetryLater            it may pass by itself: back off, say why
    │   ├── Refused           the server certainly did nothing (throttled, conflict, connection refused, expired token)
    │   └── LostReply         nobody knows whether it happened: look before anything else
    └── StopUntilChange       it will not pass until git changes or an order comes
        └── InvalidInput      what was given is wrong: says where, what was expected and what to do

Every error carries a CamelCase `reason` for machines and a message for people. Messages are cut and redacted
where they are made (`live`), so they may go into notes and logs as they are.
"""

from __future__ import annotations


class InstantStartError(Exception):
    """Base of everything we raise on purpose."""

    def __init__(self, message: str, *, reason: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or type(self).__name__


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
