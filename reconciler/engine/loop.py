"""The loop: APScheduler wakes the tick, never two at once, never a queue of missed ones.

The poll is the truth. A nudge (a webhook, a commit through us) only makes the next tick come sooner.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from apscheduler.events import EVENT_JOB_ERROR
from apscheduler.schedulers.background import BackgroundScheduler

from reconciler.engine.tick import Engine, Result

log = logging.getLogger(__name__)
TICK = "tick"
LEAST = 0.01  # real seconds between two ticks, so that a loop that always finds work leaves room for others


class Loop:
    """Runs an engine until it is stopped. `on_tick` is told every result."""

    def __init__(self, engine: Engine, *, rate: float, on_tick: Callable[[Result], None] | None = None) -> None:
        self._engine = engine
        self._rate = rate
        self._on_tick = on_tick
        self._stopping = threading.Event()
        self._scheduler: Any = BackgroundScheduler(
            timezone="UTC", job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )
        self._scheduler.add_listener(self._failed, EVENT_JOB_ERROR)
        self.last: Result | None = None
        self.crashes = 0

    def start(self) -> None:
        self._scheduler.start()
        self._wake(0.0)

    def nudge(self) -> None:
        """Tick as soon as the running one is over."""
        if not self._stopping.is_set():
            self._wake(0.0)

    def stop(self) -> None:
        """Let the running tick end; nothing new begins."""
        self._stopping.set()
        self._scheduler.shutdown(wait=True)

    def _wake(self, real_seconds: float) -> None:
        at = datetime.now(UTC) + timedelta(seconds=real_seconds)
        self._scheduler.add_job(self._tick, "date", run_date=at, id=TICK, replace_existing=True)

    def _tick(self) -> None:
        pause = self._engine.poll
        try:
            self.last = self._engine.tick()
            pause = self.last.wake
            if self._on_tick is not None:
                self._on_tick(self.last)
        finally:
            # A tick that broke must not be the last one.
            if not self._stopping.is_set():
                self._wake(max(LEAST, pause / self._rate))

    def _failed(self, event: Any) -> None:
        self.crashes += 1
        log.error("a tick broke: %s\n%s", event.exception, event.traceback)
