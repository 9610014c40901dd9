"""What diagnoses are made from, read once for all subjects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from reconciler.engine.sight import Sight
from reconciler.live.kube.kinds import Gvk
from reconciler.reads.clusters import ClusterView
from reconciler.reads.happenings import EventView
from reconciler.reads.log_text import Line
from reconciler.reads.nodes import NodeView
from reconciler.reads.parts import PartView, seen, unseen
from reconciler.reads.reads import Reads
from reconciler.reads.trimmed import PodFacts
from schemas.errors import InstantStartError, RetryLater
from schemas.values import JsonObject

POD = Gvk("v1", "Pod")
NAMESPACE = Gvk("v1", "Namespace")
MOST_BODIES = 8  # pods whose whole body and log are read
LINES = 400


@dataclass(frozen=True, kw_only=True)
class Focus:
    """What somebody asks about; empty: everything."""

    namespace: str = ""
    pod: str = ""
    node: str = ""

    def wants(self, pod: PodFacts) -> bool:
        return self.namespace in ("", pod.namespace) and self.pod in ("", pod.name) and self.node in ("", pod.node)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """`at`: now. `pods`: those that are asked about, `beside`: all of them. `usable`: devices that nodes offer now, by
    name. `bodies`: whole pods, `logs`: their last lines, by namespace/name; only those that a subject asked for,
    as are `namespaces`, whole ones."""

    cluster: str
    at: str
    view: ClusterView
    focus: Focus = field(default_factory=Focus)
    sight: Sight | None = None
    usable: dict[str, int] = field(default_factory=dict[str, int])
    nodes: tuple[NodeView, ...] = ()
    pods: tuple[PodFacts, ...] = ()
    beside: tuple[PodFacts, ...] = ()
    events: tuple[EventView, ...] = ()
    bodies: dict[str, JsonObject] = field(default_factory=dict[str, Any])
    logs: dict[str, tuple[Line, ...]] = field(default_factory=dict[str, Any])
    namespaces: tuple[JsonObject, ...] = ()
    parts: tuple[PartView, ...] = ()

    @property
    def region(self) -> str:
        return self.view.desired.region

    @property
    def hyperpod(self) -> str:
        """What SageMaker calls the cluster; an adopted one has a name of its own."""
        known = self.sight.desired.get(f"hyperpod.Cluster/{self.cluster}") if self.sight is not None else None
        return (known.adopt or known.name) if known is not None else self.cluster

    def knows(self, part: str) -> bool:
        return any(one.name == part and one.known for one in self.parts)

    def about(self, what: str) -> list[EventView]:
        """Events about one thing, newest first."""
        return sorted((one for one in self.events if one.about == what), key=lambda one: one.at, reverse=True)


def collect(
    reads: Reads,
    cluster: str,
    focus: Focus,
    *,
    live: bool,
    bodies: Callable[[PodFacts], bool],
    namespaces: bool = False,
) -> Facts:
    """Raises NotFound for a cluster that nobody knows. What cannot be seen is told in `parts`. `live`: nodes, pods and
    events are wanted; `bodies`: pods whose body and log are."""
    shown = reads.cluster(cluster).view
    sight, part = reads.sight(cluster)
    facts = Facts(cluster=cluster, at=reads.engine.clock.iso(), view=shown, focus=focus, sight=sight, parts=(part,))
    if not live:
        return _with_events(reads, facts)
    try:
        rows = reads.nodes(cluster)
        follow = reads.follow(cluster)
        pods, pods_part = follow.pods.items()
    except InstantStartError as error:
        return _with_events(reads, _more(facts, parts=(*facts.parts, unseen("kubernetes", error, since=facts.at))))
    wanted = [pod for pod in pods if focus.wants(pod)]
    usable = {node.name: node.usable for node in follow.nodes.items()[0]}
    parts = (*facts.parts, *rows.parts[:2], pods_part)
    facts = _more(facts, nodes=rows.views, usable=usable, pods=tuple(wanted), beside=tuple(pods), parts=parts)
    facts = _with_namespaces(reads, facts) if namespaces else facts
    return _with_bodies(reads, _with_events(reads, facts), [pod for pod in wanted if bodies(pod)])


def _with_namespaces(reads: Reads, facts: Facts) -> Facts:
    try:
        found = tuple(reads.world(facts.cluster).kube().list(NAMESPACE))
    except InstantStartError as error:
        return _more(facts, parts=(*facts.parts, unseen("namespaces", error, since=facts.at)))
    return _more(facts, namespaces=found, parts=(*facts.parts, seen("namespaces", facts.at)))


def _with_events(reads: Reads, facts: Facts) -> Facts:
    try:
        events, parts = reads.events(facts.cluster)
    except InstantStartError as error:
        return _more(facts, parts=(*facts.parts, unseen("events", error, since=facts.at)))
    return _more(facts, events=tuple(events), parts=(*facts.parts, *parts))


def _with_bodies(reads: Reads, facts: Facts, pods: list[PodFacts]) -> Facts:
    bodies: dict[str, JsonObject] = {}
    lines: dict[str, tuple[Line, ...]] = {}
    parts: list[PartView] = []
    pods = sorted(pods, key=_trouble)
    for pod in pods[:MOST_BODIES]:
        name = f"{pod.namespace}/{pod.name}"
        try:
            kube = reads.world(facts.cluster).kube()
            bodies[name] = kube.get(POD, pod.namespace, pod.name)
            lines[name] = reads.last_lines(facts.cluster, pod, LINES)
            parts.append(seen(f"logs of {name}", facts.at))
        except InstantStartError as error:
            parts.append(unseen(f"logs of {name}", error, since=facts.at))
    if len(pods) > MOST_BODIES:
        text = f"{MOST_BODIES} are looked at, those in trouble first; ask for a namespace or one pod"
        left = RetryLater(text, reason="NotLooked")
        parts.append(unseen(f"logs of {len(pods) - MOST_BODIES} more pods", left, since=facts.at))
    return _more(facts, bodies=bodies, logs=lines, parts=(*facts.parts, *parts))


def _trouble(pod: PodFacts) -> tuple[bool, bool, int]:
    """Those that failed first, then those that began anew."""
    return pod.phase != "Failed", any(one.ready for one in pod.containers), -sum(c.restarts for c in pod.containers)


def _more(facts: Facts, **more: Any) -> Facts:
    return Facts(**{**facts.__dict__, **more})
