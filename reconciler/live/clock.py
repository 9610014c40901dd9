"""Time as everything but signatures sees it.

A clock has a rate: 1 in real life, more in the sandbox, where settle times, deadlines and sleeps shrink with it.
Signatures, TLS and token life stay on real time: see `real_now` and `real_monotonic`.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta


class Clock:
    """Simulated time: `origin` plus the real time passed since then times rate. Safe to share between threads.

    Processes that share an origin (real epoch seconds) and a rate agree about the time, also after a restart: the
    journal's times never lie ahead of the clock that reads them. Without one, a clock starts at the real time.
    """

    def __init__(self, rate: float = 1.0, *, origin: float | None = None) -> None:
        if not rate > 0:
            raise ValueError(f"a clock's rate must be above 0, not {rate}")
        self.rate = rate
        began = time.time()
        self.origin = began if origin is None else origin
        self._start = datetime.fromtimestamp(self.origin + (began - self.origin) * rate, UTC)
        self._start_monotonic = time.monotonic()

    def now(self) -> datetime:
        """UTC."""
        return self._start + timedelta(seconds=self._elapsed())

    def monotonic(self) -> float:
        """Simulated seconds; only differences mean something."""
        return self._start_monotonic + self._elapsed()

    def sleep(self, seconds: float) -> None:
        """Wait that many simulated seconds."""
        if seconds > 0:
            time.sleep(seconds / self.rate)

    def iso(self) -> str:
        """Now, as `YYYY-MM-DDThh:mm:ss.mmmZ`."""
        return iso(self.now())

    def _elapsed(self) -> float:
        return (time.monotonic() - self._start_monotonic) * self.rate


class SteppedClock(Clock):
    """A clock that moves only when told or slept on: for tests and replays."""

    def __init__(self, start: datetime) -> None:
        super().__init__()
        self._start = start
        self._passed = 0.0
        self.slept: list[float] = []

    def advance(self, seconds: float) -> None:
        self._passed += seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._passed += max(seconds, 0.0)

    def _elapsed(self) -> float:
        return self._passed


def iso(moment: datetime) -> str:
    """`YYYY-MM-DDThh:mm:ss.mmmZ`; a moment without zone is taken as UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.strftime("%Y-%m-%dT%H:%M:%S.") + f"{aware.microsecond // 1000:03d}Z"


def real_now() -> datetime:
    """UTC as the world has it: for signatures, certificates and tokens."""
    return datetime.now(UTC)


def real_monotonic() -> float:
    """Real seconds; only differences mean something."""
    return time.monotonic()
