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
