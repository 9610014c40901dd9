"""How often somebody may ask, and how many streams they may hold open: buckets that fill again with time.

Whoever has a token is counted by it, wherever they come from; whoever has none, by address. Behind a forwarded port
all have one address, so a wrong token costs only those who have none.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from reconciler.live.clock import real_monotonic
from schemas.errors import TooMany
from schemas.principals import Principal

_KEPT = 10_000  # buckets; one that is full again says nothing


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """`burst` at once, then `each` a second."""

    each: float
    burst: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """The defaults leave room for a page that asks for everything at once and for fifty writers side by side."""

    read: Rate = Rate(each=200, burst=1000)
    write: Rate = Rate(each=50, burst=300)
    refused: Rate = Rate(each=1, burst=60)
    login: Rate = Rate(each=1 / 6, burst=10)
    streams: int = 32
    all_streams: int = 256


class Limits:
    """`monotonic`: real seconds."""

    def __init__(self, rates: Rates | None = None, *, monotonic: Callable[[], float] = real_monotonic) -> None:
        self.rates = rates or Rates()
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._buckets: dict[tuple[str, str], tuple[float, float]] = {}
        self._streams: dict[str, int] = {}

    def request(self, who: Principal, *, writes: bool) -> None:
        """Count one. Raises TooMany."""
        self._take("write" if writes else "read", who.id or who.name, self.rates.write if writes else self.rates.read)

    def refused(self, address: str) -> None:
        """Count one that nobody knows. Raises TooMany."""
        self._take("refused", address, self.rates.refused)

    def login(self, address: str) -> None:
        """Count a try to log in that led to nothing. Raises TooMany."""
        self._take("login", address, self.rates.login)

    @contextmanager
    def stream(self, who: Principal) -> Generator[None]:
        """Hold a stream (SSE, WebSocket) open. Raises TooMany."""
        key = who.id or who.name
        with self._lock:
            if self._streams.get(key, 0) >= self.rates.streams or sum(self._streams.values()) >= self.rates.all_streams:
                text = f"at most {self.rates.streams} streams are open for one token or session; close some"
                raise TooMany(text, reason="TooManyStreams", after=5)
            self._streams[key] = self._streams.get(key, 0) + 1
        try:
            yield
        finally:
            with self._lock:
                self._streams[key] -= 1
                if not self._streams[key]:
                    del self._streams[key]

    @property
    def open_streams(self) -> int:
        with self._lock:
            return sum(self._streams.values())

    def _take(self, what: str, key: str, rate: Rate) -> None:
        now = self._monotonic()
        with self._lock:
            left, at = self._buckets.get((what, key), (float(rate.burst), now))
            left = min(float(rate.burst), left + (now - at) * rate.each)
            if left >= 1:
                self._buckets[what, key] = (left - 1, now)
                self._tidy()
                return
            self._buckets[what, key] = (left, now)
        wait = math.ceil((1 - left) / rate.each)
        raise TooMany(f"too many requests; the next one is taken in {wait} s", reason="TooManyRequests", after=wait)

    def _tidy(self) -> None:
        """The oldest go first: a bucket that nobody takes from fills by itself."""
        while len(self._buckets) > _KEPT:
            del self._buckets[next(iter(self._buckets))]
