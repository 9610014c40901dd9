"""Everything that happens later, in simulated time, under one lock.

Work is due at a simulated instant (epoch seconds). It runs when somebody looks (each request settles the agenda first)
or when the one timer thread wakes for it, whichever comes first. Inside due work `now()` is the instant it was due, so
chains of transitions keep exact times however late they run.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
from collections.abc import Callable

from reconciler.sandbox.clock import Clock

log = logging.getLogger(__name__)

_LONGEST_NAP = 1.0  # real seconds


class Agenda:
    def __init__(self, clock: Clock) -> None:
        self.lock = threading.RLock()
        self.clock = clock
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._instant: float | None = None
        self._wake = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None

    def now(self) -> float:
        return self.clock.now() if self._instant is None else self._instant

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        with self.lock:
            heapq.heappush(self._due, (self.now() + seconds, next(self._order), act))
        self._wake.set()

    def settle(self) -> None:
        """Run all that is due by now, oldest first."""
        with self.lock:
            if self._instant is not None:
                return  # due work looks at the world itself; the outer call goes on
            horizon = self.clock.now()  # fixed: what a chain adds beyond it waits for the next look
            while self._due and self._due[0][0] <= horizon:
                self._instant, _, act = heapq.heappop(self._due)
                try:
                    act()
                except Exception:
                    # One broken transition must not stop the whole world's time.
                    log.exception("a simulated transition failed")
                finally:
                    self._instant = None

    def next(self) -> float | None:
        """When the next work is due; None: nothing is left to happen."""
        with self.lock:
            return self._due[0][0] if self._due else None

    def clear(self) -> None:
        with self.lock:
            self._due.clear()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="agenda", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True
        self._wake.set()
        if self._thread:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stopping:
            self._wake.clear()
            self.settle()
            self._wake.wait(self._nap())

    def _nap(self) -> float:
        with self.lock:
            if not self._due:
                return _LONGEST_NAP
            ahead = self.clock.real(self._due[0][0] - self.clock.now())
        return min(max(ahead, 0.001), _LONGEST_NAP)
