"""/clusters/{cluster}/nodes: HyperPod's machines and Kubernetes' nodes, one row each."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from reconciler.reads.happenings import EventView
from reconciler.reads.nodes import NodeView
from reconciler.reads.parts import PartView
from schemas.errors import NotFound
from web.api import etags
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.pages import PageAsked
from web.api.parts import ClusterName, LivePage, listed, must_know_one
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/nodes", tags=["live"])


class NodeDetail(NodeView):
    """`history`: HyperPod's events about the instance, newest first: provisioned, rebooted, replaced, failed. `pods`
    that run there are at /pods?node=. `parts`: each source, that of the events too."""

    history: tuple[EventView, ...] = ()
    parts: tuple[PartView, ...] = ()


@router.get(
    "",
    operation_id="list_nodes",
    response_model=LivePage[NodeView],
    responses={**responses(404), **etags.RESPONSES},
)
def list_nodes(
    request: Request,
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    asked: PageAsked,
    group: Annotated[str | None, Query(max_length=100, description="Only nodes of this group")] = None,
) -> Response:
    """By group and instance. `parts` say which source cannot be seen now; its half of each row is null then."""
    found = house.reads.nodes(cluster)
    must_know_one(found.parts[:2])
    rows = found.texts if group is None else tuple(row for row in found.texts if row[0].split("\0")[0] == group)
    return listed(request, rows, asked, found.parts)


@router.get("/{node}", operation_id="get_node", responses=responses(404))
def get_node(
    house: HouseDep,
    _who: Reader,
    cluster: ClusterName,
    node: Annotated[str, Path(pattern="^[A-Za-z0-9][-A-Za-z0-9.]{0,252}$", description="`id` of the list")],
) -> NodeDetail:
    """One node, and what HyperPod tells of its past."""
    found = house.reads.nodes(cluster)
    must_know_one(found.parts[:2])
    row = next((view for view in found.views if view.id == node), None)
    if row is None:
        raise NotFound(f"{cluster} has no node {node[:60]!r}", reason="UnknownNode")
    events, parts = house.reads.history(cluster, row.instance) if row.instance else ([], ())
    newest = sorted(events, key=lambda event: (event.at, event.id), reverse=True)
    return NodeDetail(**dict(row), history=tuple(newest), parts=(*found.parts, *parts))
