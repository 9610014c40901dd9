"""The loop: APScheduler wakes the tick, never two at once, never a queue of missed ones.

The poll is the truth. A nudge (a webhook, a commit through us) only makes the next tick come sooner.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_EXECUTED
from apscheduler.schedulers.background import BackgroundScheduler

from reconciler.engine.tick import Engine, Result
from reconciler.live.clock import real_monotonic

log = logging.getLogger(__name__)
TICK = "tick"
LEAST = 0.01  # real seconds between two ticks, so that a loop that always finds work leaves room for others
JITTER = 0.1  # of a poll interval: many processes must not fetch at the same moment


class Loop:
    """Runs an engine until it is stopped. `on_tick` is told every result."""

    def __init__(
        self,
        engine: Engine,
        *,
        rate: float,
        on_tick: Callable[[Result], None] | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._engine = engine
        self._rate = rate
        self._on_tick = on_tick
        self._random = jitter
        self._lock = threading.Lock()
        self._running = False
        self._nudged = False
        self._stopping = False
        self._scheduler: Any = BackgroundScheduler(
            timezone="UTC", job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )
        # The next tick is armed when the scheduler says that this one is over: armed earlier, it could fall on the
        # end of this one and be dropped as a second instance.
        self._scheduler.add_listener(self._over, EVENT_JOB_EXECUTED | EVENT_JOB_ERROR)
        self.last: Result | None = None
        self.crashes = 0

    def start(self) -> None:
        self._scheduler.start()
        self._arm(0.0)

    def nudge(self) -> None:
        """Tick at once, or as soon as the running tick is over."""
        with self._lock:
            if self._running:
                self._nudged = True
                return
        self._arm(0.0)

    def stop(self) -> None:
        """Let the running tick end; nothing new begins."""
        self._stopping = True
        self._scheduler.shutdown(wait=True)

    def _arm(self, real_seconds: float) -> None:
        if self._stopping:
            return
        at = datetime.now(UTC) + timedelta(seconds=real_seconds)
        self._scheduler.add_job(self._tick, "date", run_date=at, id=TICK, replace_existing=True)

    def _tick(self) -> None:
        with self._lock:
            self._running, self._nudged = True, False
        began = real_monotonic()
        self.last = self._engine.tick()
        self.last.seconds = real_monotonic() - began
        if self._on_tick is not None:
            self._on_tick(self.last)

    def _over(self, event: Any) -> None:
        """A tick that broke must not be the last one."""
        with self._lock:
            self._running = False
            nudged, self._nudged = self._nudged, False
        pause = self._engine.poll
        if event.exception is not None:
            self.crashes += 1
            log.error("a tick broke: %s\n%s", event.exception, event.traceback)
        elif self.last is not None:
            pause = self.last.wake
        if pause >= self._engine.poll:
            pause *= 1.0 + JITTER * self._random()
        self._arm(LEAST if nudged else max(LEAST, pause / self._rate))
