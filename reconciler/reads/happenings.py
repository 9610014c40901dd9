"""Recent events of a cluster, of Kubernetes and of HyperPod in one list. Messages are text from outside."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from reconciler.live.clock import iso
from reconciler.live.errors import NotFound as NotThere
from reconciler.live.kube.kinds import Gvk
from reconciler.reads.parts import PartView, View, seen, told, unseen
from reconciler.resources.handler import World
from reconciler.resources.hyperpod.look import cluster_name, describe
from schemas.errors import InstantStartError
from schemas.values import JsonObject

EVENT: Final = Gvk("v1", "Event")
MOST: Final = 2000  # of each source; older ones are not told
NODE_PREFIX: Final = "hyperpod-"
PAGES: Final = 5  # of HyperPod's, 100 each


class EventView(View):
    """`source`: kubernetes or hyperpod. `level`: info, warning or error. `about`: what it is about, `Pod/train-0`,
    `Instance/i-…`. `instance`: which one it is about, or on which it was seen. `count`: how often it was seen, from
    `first` to `at`."""

    id: str
    at: str
    first: str
    source: str
    level: str
    reason: str
    message: str
    about: str
    namespace: str = ""
    group: str = ""
    instance: str = ""
    count: int = 1


def events(world: World, *, node: str | None = None) -> tuple[list[EventView], tuple[PartView, ...]]:
    """In no order. A source that cannot be seen is told in its part. `node`: only HyperPod's of this instance."""
    found: list[EventView] = []
    parts: list[PartView] = []
    sources: dict[str, Callable[[], list[EventView]]] = {"hyperpod-events": lambda: _of_hyperpod(world, node)}
    if node is None:
        sources["kubernetes-events"] = lambda: _of_kubernetes(world)
    for name, ask in sources.items():
        at = world.clock.iso()
        try:
            found += ask()
            parts.append(seen(name, at))
        except InstantStartError as error:
            parts.append(unseen(name, error, since=at))
    return found, tuple(parts)


def _of_kubernetes(world: World) -> list[EventView]:
    """The newest; a busy cluster has tens of thousands, which are looked at and let go page by page."""
    newest: list[tuple[str, str, EventView]] = []
    for items, _ in world.kube().list_pages(EVENT):
        views = [_kubernetes(item) for item in items]
        newest = heapq.nlargest(MOST, [*newest, *((view.at, view.id, view) for view in views)], key=lambda one: one[:2])
    return [view for _, _, view in newest]


def _kubernetes(item: JsonObject) -> EventView:
    about: Mapping[str, Any] = item.get("involvedObject") or {}
    meta: Mapping[str, Any] = item.get("metadata") or {}
    series: Mapping[str, Any] = item.get("series") or {}
    last = series.get("lastObservedTime") or item.get("lastTimestamp") or item.get("eventTime")
    first = item.get("firstTimestamp") or item.get("eventTime") or last
    created = meta.get("creationTimestamp")
    count = series.get("count") or item.get("count") or 1
    return EventView(
        id=str(meta.get("uid") or meta.get("name") or ""),
        at=_moment(last or created),
        first=_moment(first or created),
        source="kubernetes",
        level="warning" if item.get("type") == "Warning" else "info",
        reason=told(str(item.get("reason") or ""), 100),
        message=told(str(item.get("message") or "")),
        about=f"{about.get('kind') or ''}/{about.get('name') or ''}",
        namespace=str(about.get("namespace") or meta.get("namespace") or ""),
        instance=_instance(about, item.get("source") or {}),
        count=count if isinstance(count, int) else 1,
    )


def _instance(about: Mapping[str, Any], source: Mapping[str, Any]) -> str:
    """Of an event about a node, or one that the kubelet of a node tells about a pod there; "" for others."""
    node = str((about.get("name") if about.get("kind") == "Node" else source.get("host")) or "")
    return node.removeprefix(NODE_PREFIX) if node.startswith(f"{NODE_PREFIX}i-") else ""


def _of_hyperpod(world: World, node: str | None) -> list[EventView]:
    """Events of clusters that provision continuously, and the failure message that any may have."""
    name = cluster_name(world)
    live = describe(world, name)
    if live is None:
        return []
    found = [_failure(world, live)] if live.get("FailureMessage") and node is None else []
    query: dict[str, Any] = {"ClusterName": name, "SortBy": "EventTime", "SortOrder": "Descending", "MaxResults": 100}
    if node is not None:
        query["NodeId"] = node
    for _ in range(PAGES):
        try:
            answer = world.aws.read("sagemaker", "ListClusterEvents", **query)
        except NotThere:
            break
        listed: Iterable[JsonObject] = answer.get("Events") or ()
        found += [_hyperpod(event) for event in listed]
        following = answer.get("NextToken")
        if not following:
            break
        query["NextToken"] = following
    return found


def _hyperpod(event: JsonObject) -> EventView:
    level = str(event.get("EventLevel") or "Info")
    instance, group = str(event.get("InstanceId") or ""), str(event.get("InstanceGroupName") or "")
    kind = str(event.get("ResourceType") or "Cluster")
    name = {"Instance": instance, "InstanceGroup": group}.get(kind) or str(event.get("ClusterName") or "")
    at = _moment(event.get("EventTime"))
    return EventView(
        id=str(event.get("EventId") or ""),
        at=at,
        first=at,
        source="hyperpod",
        level={"Warn": "warning", "Error": "error"}.get(level, "info"),
        reason=kind,
        message=told(str(event.get("Description") or "")),
        about=f"{kind}/{name}",
        group=group,
        instance=instance,
    )


def _failure(world: World, live: JsonObject) -> EventView:
    """HyperPod does not say when it failed: it is told as of now."""
    at, name = world.clock.iso(), str(live.get("ClusterName") or "")
    return EventView(
        id="failure",
        at=at,
        first=at,
        source="hyperpod",
        level="error",
        reason=str(live.get("ClusterStatus") or ""),
        message=told(str(live.get("FailureMessage") or "")),
        about=f"Cluster/{name}",
    )


def _moment(text: Any) -> str:
    """In one form, so that times of both sources compare; what is no time comes last."""
    try:
        return iso(datetime.fromisoformat(str(text)))
    except ValueError:
        return iso(datetime.fromtimestamp(0, UTC))
