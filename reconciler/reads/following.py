"""One cluster followed live while somebody asks about it: its nodes and pods by watch, its machines by listing.

What is lost stays as it was seen, with the time since when it is unknown. Nothing here writes anywhere.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from reconciler.live.clock import Clock
from reconciler.live.errors import NotFound as NotThere
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.watching import WatchEvent
from reconciler.reads import trimmed
from reconciler.reads.parts import PartView
from reconciler.reads.pods import Texts
from reconciler.reads.trimmed import MachineFacts, NodeFacts, PodFacts
from reconciler.resources.handler import World
from reconciler.resources.hyperpod.look import cluster_name
from schemas.errors import InstantStartError, RetryLater
from schemas.values import JsonObject

T = TypeVar("T")
log = logging.getLogger(__name__)

NODE, POD = Gvk("v1", "Node"), Gvk("v1", "Pod")
IDLE = 600.0  # real seconds after the last question until nobody follows any more
PERIOD = 10.0  # seconds between two listings of machines, in the engine's clock, but never closer than CLOSEST
CLOSEST = 1.0
LONGEST_PAUSE = 30.0


class Watched(Generic[T]):
    """What is known of one source. `version` moves with every change."""

    def __init__(self, name: str, clock: Clock) -> None:
        self.name = name
        self.version = 0
        self._clock = clock
        self._born = clock.iso()
        self._lock = threading.Lock()
        self._items: dict[str, T] = {}
        self._seen: str | None = None
        self._lost: tuple[str, InstantStartError] | None = None
        self._answered = threading.Event()

    def items(self) -> tuple[tuple[T, ...], PartView]:
        """Everything known, and how sure it is."""
        with self._lock:
            return tuple(self._items.values()), self._part()

    def part(self) -> PartView:
        with self._lock:
            return self._part()

    def wait(self, seconds: float) -> bool:
        """Until it was seen once, or is known to be out of sight."""
        return self._answered.wait(seconds)

    def replace(self, items: dict[str, T]) -> None:
        with self._lock:
            self._items = items
            self._is_seen()

    def put(self, key: str, item: T) -> None:
        with self._lock:
            self._items[key] = item
            self._is_seen()

    def drop(self, key: str) -> None:
        with self._lock:
            self._items.pop(key, None)
            self._is_seen()

    def alive(self) -> None:
        with self._lock:
            self._seen, self._lost = self._clock.iso(), None

    def lose(self, error: InstantStartError) -> None:
        with self._lock:
            since = self._lost[0] if self._lost is not None else (self._seen or self._clock.iso())
            if self._lost is None or self._lost[1].reason != error.reason:
                self.version += 1
            self._lost = since, error
        self._answered.set()

    def _is_seen(self) -> None:
        self.version += 1
        self._seen, self._lost = self._clock.iso(), None
        self._answered.set()

    def _part(self) -> PartView:
        if self._lost is not None:
            since, error = self._lost
            return PartView(
                name=self.name,
                observed_at=self._seen,
                unknown_since=since,
                reason=error.reason,
                message=error.message,
            )
        if self._seen is None:
            why = "it is being looked at for the first time"
            return PartView(name=self.name, unknown_since=self._born, reason="NotLooked", message=why)
        return PartView(name=self.name, observed_at=self._seen)


class Follow:
    """Three threads; `close` ends them. Each question must be told by `asked`, else following ends after a while."""

    def __init__(self, cluster: str, world: Callable[[], World], clock: Clock, *, idle: float = IDLE) -> None:
        """`world` is asked anew for every connection: endpoints and accounts may change."""
        self.cluster = cluster
        self.nodes: Watched[NodeFacts] = Watched("kubernetes-nodes", clock)
        self.pods: Watched[PodFacts] = Watched("kubernetes-pods", clock)
        self.machines: Watched[MachineFacts] = Watched("hyperpod-nodes", clock)
        self.texts = Texts()
        self._world = world
        self._idle = idle
        self._period = max(CLOSEST, PERIOD / clock.rate)
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._wakes: dict[str, Callable[[], None]] = {}
        self._asked = time.monotonic()
        self._threads = [
            threading.Thread(target=work, args=args, name=f"follow-{cluster}", daemon=True)
            for work, args in (
                (self._watch, (NODE, self.nodes, trimmed.node)),
                (self._watch, (POD, self.pods, trimmed.pod)),
                (self._list, ()),
            )
        ]
        for thread in self._threads:
            thread.start()

    @property
    def version(self) -> tuple[int, int, int]:
        return self.nodes.version, self.pods.version, self.machines.version

    @property
    def over(self) -> bool:
        return self._stop.is_set()

    @property
    def idle_for(self) -> float:
        """Real seconds since the last question."""
        return time.monotonic() - self._asked

    def asked(self) -> None:
        self._asked = time.monotonic()

    def wait(self, seconds: float) -> None:
        """Until all three were seen, or are known to be out of sight."""
        end = time.monotonic() + seconds
        for watched in (self.nodes, self.pods, self.machines):
            watched.wait(max(0.0, end - time.monotonic()))

    def close(self, *, wait: bool = True) -> None:
        self._stop.set()
        with self._lock:
            wakes = list(self._wakes.values())
        for wake in wakes:
            wake()
        for thread in self._threads if wait else ():
            if thread is not threading.current_thread():
                thread.join(5)

    def _watch(self, gvk: Gvk, watched: Watched[Any], trim: Callable[[JsonObject], Any]) -> None:
        failures = 0

        def on_event(event: WatchEvent) -> None:
            nonlocal failures
            failures = failures + 1 if event.kind == "lost" else 0
            _take(watched, trim, event)

        def on_open(wake: Callable[[], None]) -> None:
            with self._lock:
                self._wakes[gvk.kind] = wake
            if self._stop.is_set():
                wake()

        while not self._stop.is_set():
            try:
                self._world().kube().watch(gvk, on_event, self._stop, on_open=on_open)
            except InstantStartError as error:
                watched.lose(error)
            except Exception as error:  # a mistake of ours must be seen, and must not end the following
                log.exception("following %s of %s broke", gvk.kind, self.cluster)
                watched.lose(RetryLater(f"following broke: {error!r}", reason="InternalError"))
            failures += 1
            self._stop.wait(_pause(failures))

    def _list(self) -> None:
        failures = 0
        while not self._stop.is_set():
            if self.idle_for > self._idle:
                self.close(wait=False)
                return
            try:
                self.machines.replace(_machines(self._world()))
                failures = 0
            except InstantStartError as error:
                failures += 1
                self.machines.lose(error)
            except Exception as error:
                failures += 1
                log.exception("listing the machines of %s broke", self.cluster)
                self.machines.lose(RetryLater(f"listing broke: {error!r}", reason="InternalError"))
            self._stop.wait(max(self._period, _pause(failures) if failures else 0.0))


def _machines(world: World) -> dict[str, MachineFacts]:
    """Those that are still being provisioned have a logical id and no other. Without a cluster there are none."""
    try:
        listed = world.aws.pages(
            "sagemaker",
            "ListClusterNodes",
            "ClusterNodeSummaries",
            ClusterName=cluster_name(world),
            IncludeNodeLogicalIds=True,
        )
    except NotThere:
        return {}
    found = [trimmed.machine(summary) for summary in listed]
    return {machine.instance or machine.logical: machine for machine in found}


def _take(watched: Watched[Any], trim: Callable[[JsonObject], Any], event: WatchEvent) -> None:
    match event.kind:
        case "listed":
            watched.replace({_uid(body): trim(body) for body in event.objects})
        case "changed":
            watched.put(_uid(event.objects[0]), trim(event.objects[0]))
        case "gone":
            watched.drop(_uid(event.objects[0]))
        case "alive":
            watched.alive()
        case "lost":
            watched.lose(event.error or RetryLater("the watch ended", reason="WatchError"))


def _uid(body: JsonObject) -> str:
    return str(body["metadata"]["uid"])


def _pause(failures: int) -> float:
    return min(LONGEST_PAUSE, 0.5 * 2.0 ** min(failures, 8)) * (0.5 + random.random() / 2)
