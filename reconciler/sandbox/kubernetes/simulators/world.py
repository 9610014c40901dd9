"""The work loop of all simulators of one cluster: caches feed keys, one thread syncs them, timers bring them back."""

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from reconciler.sandbox.clock import Clock
from reconciler.sandbox.kubernetes.objects import Object
from reconciler.sandbox.kubernetes.simulators.cache import ALL, Cache, Key, Resource
from reconciler.sandbox.kubernetes.simulators.client import Client, Refused

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.1  # real, after a refusal
SYNC_SECONDS = 30.0


class Controller(Protocol):
    """`wake` names the controller's own keys that a change concerns, `sync` brings one of them up to date."""

    name: str

    def wake(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> Sequence[Key]: ...

    def sync(self, key: Key) -> None: ...


class World:
    """The caches and the queue that the controllers share. Syncs run one at a time, on one thread."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self.client = client
        self.clock = clock
        self.caches = {resource: Cache(client, resource, self._changed) for resource in ALL}
        self._controllers: list[Controller] = []
        self._condition = threading.Condition()
        self._dirty: dict[tuple[str, Key], None] = {}  # an ordered set
        self._timers: list[tuple[float, int, str, Key]] = []
        self._order = itertools.count()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="simulators", daemon=True)

    def start(self, controllers: Sequence[Controller]) -> None:
        """Begin to watch and to work; returns once every collection was listed."""
        self._controllers = list(controllers)
        for cache in self.caches.values():
            cache.start()
        self._thread.start()
        for cache in self.caches.values():
            if not cache.synced.wait(SYNC_SECONDS):
                raise TimeoutError(f"{cache.resource.plural} could not be listed")

    def stop(self) -> None:
        with self._condition:
            self._stopping = True
            self._condition.notify_all()
        for cache in self.caches.values():
            cache.stop()
        self._thread.join(SYNC_SECONDS)
        for cache in self.caches.values():
            cache.join(SYNC_SECONDS)

    def get(self, resource: Resource, key: Key) -> Object | None:
        return self.caches[resource].get(key)

    def all(self, resource: Resource, matches: Callable[[Object], bool] | None = None) -> list[Object]:
        found = self.caches[resource].all()
        return found if matches is None else [obj for obj in found if matches(obj)]

    def later(self, controller: Controller, key: Key, seconds: float) -> None:
        """Sync that key again in so many simulated seconds."""
        due = time.monotonic() + self.clock.real(max(seconds, 0.0))
        with self._condition:
            heapq.heappush(self._timers, (due, next(self._order), controller.name, key))
            self._condition.notify_all()

    def write(self, resource: Resource, obj: Object) -> Object:
        """Remember the answer of a write."""
        self.caches[resource].put(obj)
        return obj

    def _changed(self, resource: Resource, key: Key, before: Object | None, now: Object | None) -> None:
        with self._condition:
            for controller in self._controllers:
                for each in controller.wake(resource, key, before, now):
                    self._dirty[controller.name, each] = None
            self._condition.notify_all()

    def _run(self) -> None:
        by_name = {controller.name: controller for controller in self._controllers}
        while (found := self._next()) is not None:
            name, key = found
            try:
                by_name[name].sync(key)
            except Refused as refused:
                log.debug("%s %s: %s", name, key, refused)
                self.later(by_name[name], key, RETRY_SECONDS * self.clock.rate)
            except Exception:
                # one broken object must not stop the whole cluster
                log.exception("%s failed on %s", name, key)
        self.client.close()

    def _next(self) -> tuple[str, Key] | None:
        """The next key, waiting for a change or a timer; None when it is time to stop."""
        with self._condition:
            while not self._stopping:
                now = time.monotonic()
                while self._timers and self._timers[0][0] <= now:
                    _, _, name, key = heapq.heappop(self._timers)
                    self._dirty[name, key] = None
                if self._dirty:
                    first = next(iter(self._dirty))
                    del self._dirty[first]
                    return first
                self._condition.wait(self._timers[0][0] - now if self._timers else None)
            return None
