"""/clusters/{cluster}/nodes: HyperPod's machines and Kubernetes' nodes, one row each."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from reconciler.reads.nodes import NodeView
from web.api import etags
from web.api.access import Reader
from web.api.house import HouseDep
from web.api.pages import PageAsked
from web.api.parts import ClusterName, LivePage, listed, must_know_one
from web.api.problems import responses

router = APIRouter(prefix="/clusters/{cluster}/nodes", tags=["live"])


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
