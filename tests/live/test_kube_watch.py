"""Following a kind: first all, then changes; a lost place or connection is healed and said."""

from __future__ import annotations

import queue
import threading
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest

from reconciler.live.kube.cluster import KubeCluster
from reconciler.live.kube.kinds import Gvk
from reconciler.live.kube.tokens import FixedToken
from reconciler.live.kube.watching import WatchEvent
from reconciler.sandbox.kubernetes.records import Fault
from tests.live.kube_server import TOKEN, Kubernetes
from tests.waiting import PATIENCE

pytestmark = pytest.mark.behaviour("Product: watches that lose their place or connection")

OP = "01JA0000000000000000000000"
CONFIG_MAP = Gvk("v1", "ConfigMap")


@pytest.fixture
def place(kube: KubeCluster) -> str:
    name = f"t-{uuid.uuid4().hex[:8]}"
    kube.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"by": "t"}}}], op=OP)
    return name


class Following:
    """A watch in a thread, its events in a queue."""

    def __init__(self) -> None:
        self.events: queue.Queue[WatchEvent] = queue.Queue()

    def until(self, wanted: Callable[[WatchEvent], bool]) -> list[WatchEvent]:
        """Events up to the wanted one; fails after long silence."""
        seen: list[WatchEvent] = []
        while True:
            seen.append(self.events.get(timeout=PATIENCE))
            if wanted(seen[-1]):
                return seen


@contextmanager
def following(kubernetes: Kubernetes, place: str) -> Generator[Following]:
    found, stop = Following(), threading.Event()
    with KubeCluster(kubernetes.url, kubernetes.ca_pem, FixedToken(TOKEN), pause=lambda _: None) as own:
        thread = threading.Thread(
            target=own.watch, args=(CONFIG_MAP, found.events.put, stop), kwargs={"namespace": place}
        )
        thread.start()
        yield found
        stop.set()
        own.close()  # wakes the blocked read at once
        thread.join(timeout=PATIENCE)
        assert not thread.is_alive()


def config_map(place: str, name: str, value: str = "1") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": place, "labels": {"by": "t"}},
        "data": {"a": value},
    }


def _is(kind: str, name: str = "") -> Callable[[WatchEvent], bool]:
    def matches(event: WatchEvent) -> bool:
        return event.kind == kind and (not name or any(o["metadata"]["name"] == name for o in event.objects))

    return matches


def test_all_then_changes(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    kube.apply([config_map(place, "one")], op=OP)
    with following(kubernetes, place) as watch:
        assert watch.until(_is("listed"))[-1].objects[0]["data"] == {"a": "1"}
        kube.apply([config_map(place, "two")], op=OP)
        watch.until(_is("changed", "two"))
        kube.delete(CONFIG_MAP, place, "one", op=OP)
        watch.until(_is("gone", "one"))


def test_a_place_the_server_forgot_means_listing_again(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    """410 Gone, as an answer to the watch."""
    left = [Fault(status=410, reason="Expired")]
    kubernetes.breaks = lambda r: left.pop() if r.verb == "watch" and left else None
    with following(kubernetes, place) as watch:
        watch.until(_is("listed"))
        watch.until(_is("listed"))
        kube.apply([config_map(place, "late")], op=OP)
        watch.until(_is("changed", "late"))


def test_a_lost_connection_is_said_and_healed(kube: KubeCluster, kubernetes: Kubernetes, place: str) -> None:
    left = [Fault(status=500)]
    kubernetes.breaks = lambda r: left.pop() if r.verb == "watch" and left else None
    with following(kubernetes, place) as watch:
        lost = watch.until(_is("lost"))[-1]
        assert lost.error is not None and lost.error.reason == "ServerError"
        kube.apply([config_map(place, "late")], op=OP)
        watch.until(_is("changed", "late"))


def test_a_rejected_token_is_said_and_nothing_goes_missing(
    kube: KubeCluster, kubernetes: Kubernetes, place: str
) -> None:
    """E01: a 401 in the middle of a watch is no deletion."""
    kube.apply([config_map(place, "one")], op=OP)
    left = [Fault(status=401, reason="Unauthorized"), Fault(status=401, reason="Unauthorized")]
    kubernetes.breaks = lambda r: left.pop() if r.verb == "watch" and left else None
    with following(kubernetes, place) as watch:
        events = watch.until(_is("lost"))
        assert events[-1].error is not None and events[-1].error.reason == "ExpiredToken"
        kube.apply([config_map(place, "two")], op=OP)
        events += watch.until(_is("changed", "two"))
        assert not any(e.kind == "gone" for e in events)
