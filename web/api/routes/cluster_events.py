"""/clusters/{cluster}/events: what Kubernetes and HyperPod say happened, newest first."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from reconciler.reads.happenings import EventView
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.pages import PageAsked, page
from web.api.parts import ClusterName, LivePage, must_know_one, oldest
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/events", tags=["live"])


@router.get("", operation_id="list_cluster_events", responses=responses(404))
def list_cluster_events(
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    asked: PageAsked,
    source: Annotated[Literal["kubernetes", "hyperpod"] | None, Query(description="Only of this source")] = None,
    level: Annotated[list[Literal["info", "warning", "error"]] | None, Query(description="Only these levels")] = None,
    about: Annotated[str | None, Query(max_length=300, description="Only about this: Pod/train-0")] = None,
    namespace: Annotated[str | None, Query(max_length=63, description="Only of this namespace")] = None,
    group: Annotated[str | None, Query(max_length=63, description="Only of this instance group and its nodes")] = None,
    node: Annotated[str | None, Query(max_length=253, description="Only of this instance: i-…")] = None,
) -> LivePage[EventView]:
    """The newest thousands. A source that cannot be seen is told in `parts`; messages are text from outside."""
    events, parts = house.reads.events(cluster)
    wanted = {f"{source}-events"} if source is not None else None
    told = [part for part in parts if wanted is None or part.name in wanted]
    must_know_one(told)
    instances: set[str] = set()
    if group is not None:
        rows = house.reads.nodes(cluster)
        instances = {row.instance for row in rows.views if row.group == group and row.instance}
        told += [part for part in rows.parts if part.unknown_since is not None]
    kept = [
        event
        for event in events
        if source in (None, event.source)
        and (level is None or event.level in level)
        and about in (None, event.about)
        and namespace in (None, event.namespace)
        and node in (None, event.instance)
        and (group in (None, event.group) or event.instance in instances)
    ]
    found, following = page(kept, asked, key=lambda event: f"{event.at}\0{event.id}", newest_first=True)
    return LivePage[EventView](items=found, next=following, observed_at=oldest(told), parts=tuple(told))
