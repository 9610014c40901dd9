"""From journals to the bus: each line once, as soon as it stands in the repository, whoever wrote it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from reconciler.config_repo.repo import ConfigRepo
from reconciler.reads.journals import LineView, Tail
from schemas.errors import InstantStartError
from web.events.bus import Bus

log = logging.getLogger(__name__)
Line: TypeAlias = tuple[str, LineView]


class JournalEvents:
    """A thread that reads what is new when it is rung for: by the engine in the middle of a tick, once lines are
    published, and at the end of each tick, for what others wrote."""

    def __init__(self, repo: ConfigRepo, bus: Bus, *, tell: Callable[[Sequence[Line]], None] | None = None) -> None:
        self._tail = Tail(repo)
        self._bus = bus
        self._tell = tell
        self._bell = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="journal events", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ring(self) -> None:
        self._bell.set()

    def stop(self) -> None:
        """What is written by now is still told."""
        self._stopping = True
        self._bell.set()
        if self._thread.ident is not None:
            self._thread.join(10)

    def _run(self) -> None:
        while True:
            self._bell.wait()
            self._bell.clear()
            last = self._stopping
            try:
                self._publish(self._tail.new())
            except InstantStartError as error:  # the next tick rings again
                log.warning("new journal lines could not be read: %s", error.message)
            except Exception:
                log.exception("reading new journal lines broke")
            if last:
                return

    def _publish(self, found: Sequence[Line]) -> None:
        for cluster, line in found:
            self._bus.publish("journal", {"cluster": cluster, "line": line.raw})
        if self._tell is not None and found:
            self._tell(found)
