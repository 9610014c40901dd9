"""Simulated time: one rate for everything that lasts.

A clock of rate 60 lives a simulated minute in every real second. Two
processes agree on the simulated time when they share rate and origin.
"""

import time


class Clock:
    """Simulated epoch seconds, running `rate` times as fast as the real ones since `origin` (real epoch)."""

    def __init__(self, rate: float = 1.0, *, origin: float | None = None) -> None:
        if rate <= 0:
            raise ValueError(f"a clock's rate must be above zero, not {rate}")
        self.rate = rate
        self.origin = time.time() if origin is None else origin

    def now(self) -> float:
        return self.origin + (time.time() - self.origin) * self.rate

    def sleep(self, seconds: float) -> None:
        """Sleep that many simulated seconds."""
        if seconds > 0:
            time.sleep(self.real(seconds))

    def real(self, seconds: float) -> float:
        """How long that many simulated seconds last in real ones."""
        return seconds / self.rate


class MovedClock(Clock):
    """Stands still until somebody moves it, so that what a test sees does not hang on how fast the machine is.

    Starts at the real time.
    """

    def __init__(self) -> None:
        super().__init__()
        self._now = self.origin

    def now(self) -> float:
        return self._now

    def move(self, until: float) -> None:
        """To that simulated moment; never back."""
        self._now = max(self._now, until)

    def sleep(self, seconds: float) -> None:
        """Pass that many simulated seconds at once."""
        self.move(self._now + max(seconds, 0.0))
