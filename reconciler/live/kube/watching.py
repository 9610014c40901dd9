"""Following a kind: list once, then stream changes, and list again when the server no longer knows our place."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import orjson
import urllib3.exceptions

from reconciler.live.errors import CallRefused
from reconciler.live.kube.kinds import Gvk
from schemas.errors import InstantStartError
from schemas.values import JsonObject

if TYPE_CHECKING:
    from reconciler.live.kube.cluster import KubeCluster

TURN_SECONDS = 60  # a stream lasts so long, then goes on from where it was: `stop` is seen at the latest then
SILENCE_SECONDS = TURN_SECONDS + 15
LONGEST_PAUSE = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchEvent:
    """What a watcher learns.

    listed   `objects` are all there are: replace what you had
    changed  `objects[0]` is new or changed
    gone     `objects[0]` was deleted
    alive    nothing changed, and what you have is true now
    lost     the connection is gone (`error`): what you have grows old until the next event
    """

    kind: Literal["listed", "changed", "gone", "alive", "lost"]
    objects: tuple[JsonObject, ...] = ()
    error: InstantStartError | None = None


class _PlaceLost(Exception):
    """410: the server forgot the resource version we stood at."""


def watch(
    cluster: KubeCluster,
    gvk: Gvk,
    on_event: Callable[[WatchEvent], None],
    stop: threading.Event,
    *,
    namespace: str | None,
    label_selector: str | None,
    on_open: Callable[[Callable[[], None]], None] | None = None,
) -> None:
    place = ""
    failures = 0
    while not stop.is_set() and not cluster.transport.closed:
        try:
            if not place:
                place = _list(cluster, gvk, on_event, namespace, label_selector)
            for event, place in _stream(cluster, gvk, place, namespace, label_selector, on_open):  # noqa: B007, B020
                failures = 0
                if stop.is_set():
                    return
                on_event(event)
        except _PlaceLost:
            place = ""
        except InstantStartError as error:
            if stop.is_set() or cluster.transport.closed:
                return
            if error.reason == "Expired":
                place = ""
                continue
            on_event(WatchEvent(kind="lost", error=error))
            failures += 1
            stop.wait(_pause(failures))


def _list(
    cluster: KubeCluster,
    gvk: Gvk,
    on_event: Callable[[WatchEvent], None],
    namespace: str | None,
    label_selector: str | None,
) -> str:
    objects: list[JsonObject] = []
    place = ""
    for items, version in cluster.list_pages(gvk, namespace, label_selector):
        objects += items
        place = version
    on_event(WatchEvent(kind="listed", objects=tuple(objects)))
    return place


def _stream(
    cluster: KubeCluster,
    gvk: Gvk,
    place: str,
    namespace: str | None,
    label_selector: str | None,
    on_open: Callable[[Callable[[], None]], None] | None,
) -> Iterator[tuple[WatchEvent, str]]:
    """Events and the place after each. Ends when the server ends the turn or the connection breaks."""
    query = {
        "watch": "1",
        "allowWatchBookmarks": "true",
        "resourceVersion": place,
        "timeoutSeconds": str(TURN_SECONDS),
    }
    if label_selector:
        query["labelSelector"] = label_selector
    answer = cluster.transport.stream(cluster.served(gvk).path(namespace), query, silence=SILENCE_SECONDS)
    if on_open is not None:
        on_open(lambda: cluster.transport.wake(answer))
    try:
        for line in _lines(answer):
            event: dict[str, Any] = orjson.loads(line)
            body: JsonObject = event["object"]
            if event["type"] == "ERROR":
                if body.get("code") == 410:
                    raise _PlaceLost
                raise CallRefused(str(body.get("message") or "the watch ended with an error"), reason="WatchError")
            place = str(body["metadata"]["resourceVersion"])
            match event["type"]:
                case "ADDED" | "MODIFIED":
                    yield WatchEvent(kind="changed", objects=(body,)), place
                case "DELETED":
                    yield WatchEvent(kind="gone", objects=(body,)), place
                case _:
                    yield WatchEvent(kind="alive"), place
    finally:
        cluster.transport.end(answer)


def _lines(answer: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """Whole lines of a stream; a broken connection ends them as the server's own end would."""
    rest = b""
    try:
        for chunk in answer.stream(64 * 1024, decode_content=True):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line for line in whole if line.strip())
    except (urllib3.exceptions.HTTPError, OSError, ValueError):
        return


def _pause(failures: int) -> float:
    return min(LONGEST_PAUSE, 0.5 * 2.0 ** min(failures, 8)) * (0.5 + random.random() / 2)
