"""How far this machine's clock is from a server's, as its Date header tells: signatures fail beyond five minutes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from reconciler.live.clock import real_now
from reconciler.live.redaction import presentable

MATTERS = timedelta(minutes=4)


def measured(headers: Mapping[str, str]) -> timedelta | None:
    """Our real clock minus the server's; None if it sent no date that can be read."""
    stamp = next((value for name, value in headers.items() if name.lower() == "date"), "")
    try:
        theirs = parsedate_to_datetime(stamp)
    except (TypeError, ValueError):
        return None
    aware: datetime = theirs.replace(tzinfo=UTC) if theirs.tzinfo is None else theirs
    return real_now() - aware


def sentence(skew: timedelta, said: str) -> str:
    seconds = round(abs(skew).total_seconds())
    side = "ahead of" if skew > timedelta(0) else "behind"
    return presentable(f"this machine's clock is {seconds} s {side} the server's: set it right ({said})")
