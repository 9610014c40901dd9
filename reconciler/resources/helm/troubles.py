"""What helm complains about: what passes by itself, what was lost on the way, what stops."""

from __future__ import annotations

import re

from reconciler.live.kube.rights import is_missing_right, with_way_out
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
_DEBUG = "level=DEBUG "
_DEBUG_CAUSE = re.compile(rf'^{_DEBUG}.* error=("(?:[^"\\]|\\.)*"|\S+)')


def verdict(command: str, stderr: str) -> InstantStartError:
    """What helm's complaint means for the engine. The cause stands at the end of it."""
    heard = _heard(stderr)
    said = presentable(f"helm {command}: {_cause(heard)}")
    low = heard.lower()
    for words, reason in _LATER:
        if words in low:
            return Refused(said, reason=reason)
    if any(words in low for words in _LOST):
        return LostReply(said, reason="HelmLost")
    if "forbidden" in low:
        if is_missing_right(heard):
            said = with_way_out(said)
        return StopUntilChange(said, reason="AccessDenied")
    return StopUntilChange(said, reason="HelmFailed")


def passes(description: str) -> bool:
    """Whether a revision failed for something that passes by itself, as its own description tells."""
    return isinstance(verdict("upgrade", description), RetryLater)


def _heard(stderr: str) -> str:
    """What --debug tells goes, but for causes, which helm's last words may leave out: they are put after these."""
    lines = stderr.splitlines()
    causes = [found[1] for line in lines if (found := _DEBUG_CAUSE.search(line))]
    words = [line for line in lines if not line.startswith(_DEBUG)]
    return "\n".join([*words, *(cause.strip('"').replace('\\"', '"') for cause in causes)])


def _cause(stderr: str) -> str:
    """The lines from the last "Error:" on; warnings before it say nothing."""
    text = stderr.strip()
    start = text.rfind("Error: ")
    return text[start:].removeprefix("Error: ") if start >= 0 else text
