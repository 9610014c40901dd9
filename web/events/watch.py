"""From the repository to the bus: journal lines and changes, each once, as soon as they stand there."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from reconciler.changes.store import Store
from reconciler.config_repo.repo import ConfigRepo
from reconciler.reads.journals import LineView, Tail
from schemas.errors import InstantStartError
from web.events.bus import Bus

log = logging.getLogger(__name__)
Line: TypeAlias = tuple[str, LineView]


class Watch:
    """A thread that reads what is new when it is rung for: by the engine in the middle of a tick, once lines are
    published; by routes that wrote something; and at the end of each tick, for what others wrote. `tell` is told every
    journal line too."""

    def __init__(self, repo: ConfigRepo, changes: Store, bus: Bus) -> None:
        self.tell: Callable[[Sequence[Line]], None] | None = None
        self._tail = Tail(repo)
        self._changes = ChangeTail(repo, changes)
        self._bus = bus
        self._bell = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ring(self) -> None:
        """From any thread; never blocks."""
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
            for work in (self._lines, self._moves):
                try:
                    work()
                except InstantStartError as error:  # the next tick rings again
                    log.warning("what is new could not be read: %s", error.message)
                except Exception:
                    log.exception("reading what is new broke")
            if last:
                return

    def _lines(self) -> None:
        found = self._tail.new()
        for cluster, line in found:
            self._bus.publish("journal", {"cluster": cluster, "line": line.raw})
        if self.tell is not None and found:
            self.tell(found)

    def _moves(self) -> None:
        for change, state, head in self._changes.new():
            self._bus.publish("change", {"id": change, "state": state, "head": head})


class ChangeTail:
    """Gives each move of a change once: a new line, another state, also where a push merged it. Costs nothing while
    neither a change nor the branch moves."""

    def __init__(self, repo: ConfigRepo, changes: Store) -> None:
        self._repo = repo
        self._changes = changes
        self._at: tuple[dict[str, str], str | None] = ({}, None)
        self._known: dict[str, tuple[str, str]] = {}
        self.new()

    def new(self) -> list[tuple[str, str, str]]:
        """(id, state, head), oldest change first."""
        at = (dict(self._repo.changes.tips()), self._repo.head())
        if at == self._at:
            return []
        found: list[tuple[str, str, str]] = []
        known: dict[str, tuple[str, str]] = {}
        for state in self._changes.all() if at[0] else []:
            known[state.change.id] = (state.tip, state.name)
            if self._known.get(state.change.id) != known[state.change.id]:
                found.append((state.change.id, state.name, state.change.head))
        self._at, self._known = at, known
        return found
