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
from schemas.errors import InstantStartError
from schemas.values import JsonObject

POD = Gvk("v1", "Pod")
MOST_BODIES = 8  # pods whose whole body and log are read
LINES = 400


@dataclass(frozen=True, kw_only=True)
class Facts:
    """`bodies`: whole pods, `logs`: their last lines, by namespace/name; only those that a subject asked for."""

    cluster: str
    view: ClusterView
    sight: Sight | None = None
    nodes: tuple[NodeView, ...] = ()
    pods: tuple[PodFacts, ...] = ()
    events: tuple[EventView, ...] = ()
    bodies: dict[str, JsonObject] = field(default_factory=dict[str, Any])
    logs: dict[str, tuple[Line, ...]] = field(default_factory=dict[str, Any])
    parts: tuple[PartView, ...] = ()

    def about(self, what: str) -> list[EventView]:
        """Events about one thing, newest first."""
        return sorted((one for one in self.events if one.about == what), key=lambda one: one.at, reverse=True)


@dataclass(frozen=True, kw_only=True)
class Focus:
    """What somebody asks about; empty: everything."""

    namespace: str = ""
    pod: str = ""
    node: str = ""

    def wants(self, pod: PodFacts) -> bool:
        return self.namespace in ("", pod.namespace) and self.pod in ("", pod.name) and self.node in ("", pod.node)


def collect(reads: Reads, cluster: str, focus: Focus, *, live: bool, bodies: Callable[[PodFacts], bool]) -> Facts:
    """Raises NotFound for a cluster that nobody knows. What cannot be seen is told in `parts`. `live`: nodes, pods and
    events are wanted; `bodies`: pods whose body and log are."""
    shown = reads.cluster(cluster).view
    sight, part = reads.sight(cluster)
    facts = Facts(cluster=cluster, view=shown, sight=sight, parts=(part,))
    if not live:
        return _with_events(reads, facts)
    try:
        rows = reads.nodes(cluster)
        pods, pods_part = reads.follow(cluster).pods.items()
    except InstantStartError as error:
        at = reads.engine.clock.iso()
        return _with_events(reads, _more(facts, parts=(*facts.parts, unseen("kubernetes", error, since=at))))
    wanted = [pod for pod in pods if focus.wants(pod)]
    facts = _more(facts, nodes=rows.views, pods=tuple(wanted), parts=(*facts.parts, *rows.parts[:2], pods_part))
    return _with_bodies(reads, _with_events(reads, facts), [pod for pod in wanted if bodies(pod)])


def _with_events(reads: Reads, facts: Facts) -> Facts:
    try:
        events, parts = reads.events(facts.cluster)
    except InstantStartError as error:
        return _more(facts, parts=(*facts.parts, unseen("events", error, since=reads.engine.clock.iso())))
    return _more(facts, events=tuple(events), parts=(*facts.parts, *parts))


def _with_bodies(reads: Reads, facts: Facts, pods: list[PodFacts]) -> Facts:
    bodies: dict[str, JsonObject] = {}
    lines: dict[str, tuple[Line, ...]] = {}
    parts: list[PartView] = []
    for pod in pods[:MOST_BODIES]:
        name = f"{pod.namespace}/{pod.name}"
        try:
            kube = reads.world(facts.cluster).kube()
            bodies[name] = kube.get(POD, pod.namespace, pod.name)
            lines[name] = reads.last_lines(facts.cluster, pod, LINES)
            parts.append(seen(f"logs of {name}", reads.engine.clock.iso()))
        except InstantStartError as error:
            parts.append(unseen(f"logs of {name}", error, since=reads.engine.clock.iso()))
    return _more(facts, bodies=bodies, logs=lines, parts=(*facts.parts, *parts))


def _more(facts: Facts, **more: Any) -> Facts:
    return Facts(**{**facts.__dict__, **more})
