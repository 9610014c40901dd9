"""How the loop does: what its last tick said and when. Health, readiness and metrics are read from it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace

from reconciler.engine.tick import Result


@dataclass(frozen=True, kw_only=True)
class Beat:
    """Since the process began. `at`: real epoch seconds of the last tick's end; `problem`: why it could do nothing;
    `problems`: reasons of what went wrong, with how often; `looked`: some tick could do its work."""

    ticks: int = 0
    sent: int = 0
    lines: int = 0
    at: float | None = None
    problem: str | None = None
    looked: bool = False
    problems: Counter[str] = field(default_factory=Counter[str])


class Pulse:
    """Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._beat = Beat()

    @property
    def beat(self) -> Beat:
        with self._lock:
            return self._beat

    def tell(self, result: Result) -> None:
        reasons = Counter(_reason(text) for text in [result.problem, *result.problems.values()] if text)
        with self._lock:
            before = self._beat
            self._beat = replace(
                before,
                ticks=before.ticks + 1,
                sent=before.sent + result.sent,
                lines=before.lines + result.lines,
                at=time.time(),
                problem=result.problem,
                looked=before.looked or result.problem is None,
                problems=before.problems + reasons,
            )


def _reason(text: str) -> str:
    """`RemoteUnavailable: …` is RemoteUnavailable; what has no such word is Other, so that no text becomes a label."""
    word = text.partition(":")[0]
    return word if word.isascii() and word.isalnum() and word[:1].isupper() and len(word) <= 40 else "Other"
