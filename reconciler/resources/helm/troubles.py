"""What helm complains about: what passes by itself, what was lost on the way, what stops."""

from __future__ import annotations

from reconciler.live.redaction import presentable
from schemas.errors import InstantStartError, LostReply, Refused, RetryLater, StopUntilChange

_LATER: tuple[tuple[str, str], ...] = (
    ("another operation", "Conflict"),
    ("kubernetes cluster unreachable", "NotConnected"),
    ("connection refused", "NotConnected"),
    ("unauthorized", "ExpiredToken"),
    ("must be logged in", "ExpiredToken"),
    ("too many requests", "Throttled"),
    ("the object has been modified", "Conflict"),
)
_LOST = (
    "timed out",
    "timeout",
    "deadline exceeded",
    "connection reset",
    "connection lost",
    "broken pipe",
    "eof",
    "internal error occurred",
    "unable to return a response in time",
    "unable to handle the request",
)


def verdict(command: str, stderr: str) -> InstantStartError:
    """What helm's complaint means for the engine. The cause stands at the end of it."""
    said = presentable(f"helm {command}: {_cause(stderr)}")
    low = stderr.lower()
    for words, reason in _LATER:
        if words in low:
            return Refused(said, reason=reason)
    if any(words in low for words in _LOST):
        return LostReply(said, reason="HelmLost")
    if "forbidden" in low:
        return StopUntilChange(said, reason="AccessDenied")
    return StopUntilChange(said, reason="HelmFailed")


def passes(description: str) -> bool:
    """Whether a revision failed for something that passes by itself, as its own description tells."""
    return isinstance(verdict("upgrade", description), RetryLater)


def _cause(stderr: str) -> str:
    """The lines from the last "Error:" on; warnings before it say nothing."""
    text = stderr.strip()
    start = text.rfind("Error: ")
    return text[start:].removeprefix("Error: ") if start >= 0 else text
